//! The whole service against a real API server: what users would see.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod alike;
mod bad_input;
mod conflicts;
mod definitions;
mod drift;
mod hostile;
mod ownership;
mod preflight;
mod preview;
mod readiness;
mod rights;
mod world;
