//! What is checked before anything is touched.

pub mod expected;
pub mod permissions;
