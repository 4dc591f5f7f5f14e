//! Configurations, schemas and references of strangers: whatever the bytes, reading them ends, and without a panic.
//!
//! The fuzz targets of `fuzz/` feed the same entries for longer, and learn from what the bytes reach.

use proptest::prelude::*;

#[path = "../fuzz/entries.rs"]
mod entries;

/// What the parsers look for; chance alone would not spell it.
const WORDS: &[&str] = &[
    "resources",
    "outputs",
    "imports",
    "name",
    "type",
    "properties",
    "metadata",
    "dependsOn",
    "value",
    "path",
    "t.jinja",
    "a",
    "T",
    "default",
    "required",
    "items",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "dependencies",
    "additionalProperties",
    "patternProperties",
    "$ref",
    "pattern",
    "enum",
    "definitions",
    "#",
    "#/",
    "#/definitions/a",
    "string",
    "object",
    "array",
    "integer",
    "$(ref.",
    "$(ref.a.x)",
    "$(ref.t.o)",
    "$(ref.t.p)",
    "'",
    "\"",
    "[0]",
    "['a']",
    ".",
    ")",
    "(",
    "[",
    "]",
    "{",
    "}",
    ":",
    ": ",
    "- ",
    ",",
    "\n",
    "\n  ",
    "\n- ",
    "&a ",
    "*a",
    "<<: *a",
    "!!set",
    "!!binary",
    "|\n",
    ">\n",
    "---\n",
    "? ",
    "%",
    "\\",
    "^(a|a)*\\1b",
    "0",
    "1",
    "1e9",
    "0755",
    "22:30",
    "2016-01-01",
    "~",
    "true",
    "\t",
    "\u{feff}",
    "é",
    "\0",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec());
    let piece = prop_oneof![9 => word, 1 => prop::collection::vec(any::<u8>(), 0..8)];
    prop_oneof![
        4 => prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn reading_a_configuration_ends_without_a_panic(data in bytes()) {
        entries::configuration(&data);
    }

    #[test]
    fn applying_a_schema_ends_without_a_panic(data in bytes()) {
        entries::schema(&data);
    }

    #[test]
    fn resolving_references_ends_without_a_panic(data in bytes()) {
        entries::references(&data);
    }
}
