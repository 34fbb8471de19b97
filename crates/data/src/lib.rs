//! Sources become a dataset; a dataset becomes seeded batches.
