//! The keys of the store, and sealing credentials with them.
//!
//! The store alone is unreadable: the keys are in a file of their own ([`key`]), and are not part of a backup. It does
//! not know its callers, and where sealed values are stored.

mod key;
mod seal;

pub use key::{Key, KeyError, KeyId, KeyPlace, Ring};
pub use seal::{Sealed, open, seal};
