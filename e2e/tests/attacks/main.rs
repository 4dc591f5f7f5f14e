//! What the services bear: each attack is aimed at all three while others are served, and none may notice.
//!
//! No cluster is needed for it: a resourcifier without one answers, and that is what is asked here.

mod bodies;
mod connections;
mod heads;
mod services;
mod soak;
