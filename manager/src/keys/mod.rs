//! The keys of the store, and sealing credentials with them.
//!
//! Who has the store alone can read none of it: the keys are in a file of their own ([`key`]), and are not part of a
//! backup. It refuses to know who asks, and where what is sealed is kept.

mod key;
mod seal;

pub use key::{Key, KeyError, KeyId, KeyPlace, Ring};
pub use seal::{Sealed, open, seal};
