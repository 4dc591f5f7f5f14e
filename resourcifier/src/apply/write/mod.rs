//! One object's write, and its dry run: beside other field managers, over what was there before, as a new object.

pub mod acquire;
pub mod conflicts;
pub mod namespace;
pub mod predecessor;
pub mod trial;
