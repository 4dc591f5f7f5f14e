//! `/metrics`. The numbers show what other users do, so the route needs permission. Prometheus uses a token.

pub use common::server::observe::metrics::metrics as get;
