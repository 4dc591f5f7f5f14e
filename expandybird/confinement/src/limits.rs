//! Resource limits.

pub use nix::sys::resource::Resource;
use nix::sys::resource::setrlimit;

use crate::error::Error;

/// Sets a limit. The soft one ends the process or fails the call, and the process may raise it up to the hard one.
pub fn limit(resource: Resource, soft: u64, hard: u64) -> Result<(), Error> {
    setrlimit(resource, soft, hard).map_err(Error::system("limit resources"))
}
