//! What a caller may do, and what a caller may see.

pub mod gate;
pub(super) mod visibility;
