//! The store from outside: what is published stays whole, runs are found, one driver at a time.

mod crash;
mod http;
mod local;
mod lock;
mod remote;
mod runs;
