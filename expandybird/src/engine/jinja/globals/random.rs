//! Randomness in Jinja. Here it is the same for the same files, environment and position in the rendering, because the
//! same input must give the same output.

use std::cell::Cell;

use minijinja::{Error, Value};

use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values;
use crate::engine::jinja::values::python;

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Paragraphs of one call of `lipsum`, and words of one paragraph.
const PARAGRAPHS: usize = 100;
const WORDS: usize = 1000;
const LOREM: [&str; 24] = [
    "lorem",
    "ipsum",
    "dolor",
    "sit",
    "amet",
    "consectetuer",
    "adipiscing",
    "elit",
    "sed",
    "diam",
    "nonummy",
    "nibh",
    "euismod",
    "tincidunt",
    "ut",
    "laoreet",
    "magna",
    "aliquam",
    "erat",
    "volutpat",
    "wisi",
    "enim",
    "minim",
    "veniam",
];

pub fn seed(seed: u64) {
    STATE.set(seed);
}

/// A number below the bound: SplitMix64, whose remainder is even enough.
fn below(bound: usize) -> usize {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
    usize::try_from(mixed % bound).unwrap_or(0)
}

/// One item of a list, or one character of a text.
pub fn random(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let items = values::items(&call.subject())?;
    Ok(items.get(below(items.len())).cloned().unwrap_or_default())
}

/// Paragraphs of meaningless words.
pub fn lipsum(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [count, html, least, most] = call.arguments();
    let count = python::count(&count.or(5))?.min(PARAGRAPHS);
    let least = python::count(&least.or(20))?.min(WORDS);
    let most = python::count(&most.or(100))?.clamp(least, WORDS);
    let paragraph = || {
        let words = (0..least + below(most - least)).map(|_| LOREM[below(LOREM.len())]);
        let text = words.collect::<Vec<_>>().join(" ");
        let mut characters = text.chars();
        let first = characters.next().map(|c| c.to_ascii_uppercase());
        first
            .into_iter()
            .chain(characters)
            .chain(['.'])
            .collect::<String>()
    };
    let paragraphs: Vec<String> = (0..count).map(|_| paragraph()).collect();
    let text = match html.flag(true) {
        true => paragraphs
            .iter()
            .map(|text| format!("<p>{text}</p>"))
            .collect::<Vec<_>>()
            .join("\n"),
        false => paragraphs.join("\n\n"),
    };
    Ok(Value::from(text))
}
