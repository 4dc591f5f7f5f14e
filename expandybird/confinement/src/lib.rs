//! Uses the kernel to leave a process that runs untrusted code only the ability to compute.
//!
//! Two programs use it: the worker that runs Python templates, and the processes in which the server expands
//! configurations. Each has its own table of system calls and its own limits. This package does not know templates or
//! messages. Its restrictions are permanent: the process cannot remove them.

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
