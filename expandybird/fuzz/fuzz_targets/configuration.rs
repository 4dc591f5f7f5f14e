//! A configuration, and what a template returns.
#![no_main]

#[path = "../entries.rs"]
#[expect(dead_code, reason = "each target has one entry of it")]
mod entries;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    entries::configuration(data);
});
