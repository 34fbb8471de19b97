//! How a network computes: a static program over flat memory.
