//! What the chart gives expandybird suffices for what it runs at once.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::path::Path;

use common::yaml::{self, Duplicates, Limits};
use expandybird::memory::{MemorySettings, Plan};

/// The default of the chart's schema, which sets no limit of expandybird's own: it derives them.
fn of_the_chart() -> u64 {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../charts/deployment-manager/v1/deployment-manager.py.schema");
    let text = std::fs::read_to_string(chart).unwrap();
    let schema = yaml::read(&text, &Limits::DEFAULT, Duplicates::Error).unwrap();
    let pointer = "/properties/expandybird/properties/resources/default/limits/memory";
    let limit = schema.value.pointer(pointer).unwrap().as_str().unwrap();
    let gibibytes: u64 = limit.strip_suffix("Gi").unwrap().parse().unwrap();
    gibibytes << 30
}

#[test]
fn the_charts_memory_suffices_for_more_than_one_caller_at_once() {
    let plan = Plan::new(of_the_chart(), MemorySettings::default()).unwrap();
    assert!(plan.needed_bytes() <= of_the_chart(), "{plan}");
    // One place stays free for the others whatever one caller does.
    assert!(plan.expansions >= 2 && plan.sessions >= 2, "{plan}");
}
