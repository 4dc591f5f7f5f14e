//! The harness of the end-to-end tests: a real Kubernetes API server, the real programs, real kubectl.
//!
//! A test takes a [`Stack`]: the three services as processes of its own, a store of its own, a namespace of its own. The
//! cluster is one for all tests of a run. Everything goes with the test, also when the test is killed.

pub mod api_client;
pub mod audit;
pub mod broker;
pub mod chart_repository;
pub mod cluster;
mod collector;
pub mod dm;
pub mod gate;
pub mod git_daemon;
pub mod github;
pub mod go;
mod held_port;
pub mod helm;
pub mod hub;
mod installed;
pub mod issuer;
pub mod loopback;
pub mod program;
pub mod repository;
pub mod signer;
pub mod stack;
mod user;
pub mod wait;

pub use api_client::ApiClient;
pub use broker::Broker;
pub use cluster::Cluster;
pub use collector::{Collector, Span};
pub use dm::{Dm, Said};
pub use gate::{Direction, Gate, Way};
pub use issuer::Issuer;
pub use loopback::Loopback;
pub use repository::Repository;
pub use stack::Stack;
pub use user::User;
pub use wait::until;
