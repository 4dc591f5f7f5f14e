//! For those who write templates: begin, check, test, package and publish a version.

pub mod compatibility;
pub mod init;
pub mod lint;
pub mod package;
pub mod publish;
pub mod test;
pub mod version;
