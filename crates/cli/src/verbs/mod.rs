//! One file for each verb: its arguments, its help, what it does.

pub(crate) mod aggregate;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod drive;
pub(crate) mod evaluate;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod join;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod plan;
pub(crate) mod pod;
pub(crate) mod predict;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod split;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod train;
pub(crate) mod why;
pub(crate) mod worker;
