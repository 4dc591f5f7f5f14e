//! The kernel's means to take everything but computing from a process that runs code of strangers.
//!
//! Two programs use it: the worker that runs Python templates, and the processes in which the server
//! expands configurations. Each has its own table of system calls and its own limits. This package knows
//! neither templates nor messages. All that it takes away is gone for good: the process cannot get it back.

mod error;
mod files;
mod limits;
mod privileges;
mod system_calls;

pub use error::Error;
pub use files::{FileRules, Files};
pub use limits::{Resource, limit};
pub use privileges::{die_with, give_up_privileges, hide};
pub use seccompiler::{SeccompCmpOp as Compare, SeccompRule as Rule};
pub use system_calls::{Action, Filter, Rules, all_of, always, one_of, rule};
