//! `/metrics`: numbers tell what others do, so that they are not for everybody; Prometheus has a token.

pub use common::server::metrics::metrics as get;
