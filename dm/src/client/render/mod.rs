//! The manager's answers, as tables, trees and graphs.

pub mod change;
pub mod describe;
pub mod event;
pub mod graph;
pub mod resources;
pub mod tree;
