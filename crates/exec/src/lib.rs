//! Runs a plan: schedule, watch, restart.
