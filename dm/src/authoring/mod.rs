//! For those who write templates: test, package and publish a version.

pub mod compatibility;
pub mod package;
pub mod publish;
pub mod test;
pub mod version;
