//! What can be said of an object by its text alone: whose it is, what changed, what a write would take. Pure.

pub mod acquired;
pub mod change;
pub mod claim;
pub mod compare;
pub mod fault;
pub mod notation;
pub mod ownership;
pub mod replace;
pub mod shown;
pub mod unchanged;
