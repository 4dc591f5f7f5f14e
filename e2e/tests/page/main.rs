//! The page of the manager in a real browser, against the real services and a real API server.
//!
//! Every test fails if the page breaks its own Content-Security-Policy, or if a script of it fails.

mod browser;
mod certificate;
mod changes;
mod every_view;
mod figures;
mod forms;
mod hostile;
mod issuer;
mod looking;
mod outage;
mod rights;
mod signing_in;
mod views;
