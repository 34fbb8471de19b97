//! A checked run file becomes a plan of tasks.
