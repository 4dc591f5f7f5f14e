//! A Go template.
#![no_main]

#[path = "../template.rs"]
mod template;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _either_way = template::run(data);
});
