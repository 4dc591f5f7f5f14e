//! Which instances of a service are ready.

use std::sync::LazyLock;

use prometheus::{IntGaugeVec, Opts};

use crate::server::observe::metrics::register;

static READY: LazyLock<Option<IntGaugeVec>> = LazyLock::new(|| {
    let opts = Opts::new(
        "dm_instance_ready",
        "1 if this instance of a service with several URLs gets requests, 0 while it is left out.",
    );
    let gauge = IntGaugeVec::new(opts, &["service", "url"]).ok()?;
    register(gauge.clone());
    Some(gauge)
});

pub fn ready(service: &str, url: &str, is_ready: bool) {
    if let Some(gauge) = &*READY {
        gauge
            .with_label_values(&[service, url])
            .set(is_ready.into());
    }
}

pub fn forget(service: &str, url: &str) {
    if let Some(gauge) = &*READY {
        // `Err`: another client of the same instance has forgotten it.
        let _ = gauge.remove_label_values(&[service, url]);
    }
}
