//! YAML 1.1 as PyYAML reads it, limits, and what errors say.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by failing"
)]

use common::yaml::{
    Document, Duplicates, Limits, Location, YamlError, YamlErrorKind, excerpt, locate, read,
    read_all,
};
use serde_json::{Value, json};

fn reads(text: &str) -> Value {
    read_with(text, Limits::DEFAULT).unwrap().value
}

fn read_with(text: &str, limits: Limits) -> Result<Document, YamlError> {
    read(text, &limits, Duplicates::Warn)
}

fn fails(text: &str) -> String {
    let error = read(text, &Limits::DEFAULT, Duplicates::Error).unwrap_err();
    error.to_string()
}

fn kind(text: &str, limits: Limits) -> YamlErrorKind {
    read_with(text, limits).unwrap_err().kind
}

/// Texts that PyYAML refuses and the parser, which knows YAML 1.2, reads.
const MORE_LIBERAL_THAN_PYYAML: [&str; 18] = [
    // Tabs between tokens.
    "\ta: b\n",
    "\ta: 1",
    "\t",
    "a: 1\t# c",
    "a:\t\\n",
    "-\ta",
    "-\ta: 1",
    "a: [1,\t2]",
    "a: {\tb: 1}",
    "a: b\t",
    // Keys that are left out, and an end of nothing.
    ": x",
    "a: [: c]",
    "a: {: c}",
    "...",
    // An anchor given again, another version of YAML, question marks between brackets.
    "- &a 1\n- &a 2\n- *a",
    "%YAML 2.0\n---\na",
    "a: [a-b, a:b, a#b, a?b]",
    "a: [http://b:80/c?d=e&f=g#h, x]",
];

#[test]
fn every_text_of_the_table_reads_as_pyyaml_reads_it() {
    let facts: Vec<Value> = serde_json::from_str(include_str!("yaml/facts.json")).unwrap();
    assert!(facts.len() > 600, "only {} facts", facts.len());
    let mut wrong = Vec::new();
    for fact in &facts {
        let text = fact["text"].as_str().unwrap();
        let document = read_with(text, Limits::DEFAULT).map(|document| document.value);
        let right = match (&document, fact.get("reads")) {
            // As text, for the order of the keys counts too.
            (Ok(value), Some(expected)) => format!("{value}") == format!("{expected}"),
            (Ok(_), None) => MORE_LIBERAL_THAN_PYYAML.contains(&text),
            (Err(_), expected) => expected.is_none(),
        };
        if !right {
            wrong.push(format!("{fact} but: {document:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scalars_that_surprise_people_read_as_the_specification_says() {
    let text = "[yes, y, 0755, 0o755, 08, 22:30, 1_000, 0b11, 0x1F, 1e3, 1.0e3, 1.0e+3, 1.0, \
                2016-01-01, 2001-12-14t21:59:43.10-05:00, 100000000]";
    let expected = json!([
        true,
        "y",
        493,
        "0o755",
        "08",
        1350,
        1000,
        3,
        31,
        "1e3",
        "1.0e3",
        1000.0,
        1.0,
        "2016-01-01",
        "2001-12-14t21:59:43.10-05:00",
        100_000_000
    ]);
    assert_eq!(reads(text), expected);
}

#[test]
fn integers_keep_full_precision_and_beyond_64_bits_ask_for_quotes() {
    assert_eq!(reads("18446744073709551615"), json!(u64::MAX));
    assert_eq!(reads("-9223372036854775808"), json!(i64::MIN));
    assert_eq!(
        fails("a: 18446744073709551616"),
        "line 1, column 4: the integer 18446744073709551616 does not fit into 64 bits; quote it to keep it as text"
    );
    assert!(fails("-9223372036854775809").contains("64 bits"));
}

#[test]
fn every_kind_of_mistake_has_its_own_sentence() {
    let cases = [
        (
            "a: 1\nb: 2\na: 3\n",
            "line 3, column 1: duplicate key 'a' (first at line 1)",
        ),
        (
            "1: x\n'1': y\n",
            "line 2, column 1: duplicate key '1' (first at line 1)",
        ),
        (
            "[a]: b\n",
            "line 1, column 1: the key is a list or a map; only plain values can be keys",
        ),
        (
            "a: *b\n",
            "line 1, column 4: the alias '*b' names no anchor before it",
        ),
        (
            "a: [é, *bc]\n",
            "line 1, column 8: the alias '*bc' names no anchor before it",
        ),
        (
            "a: &x\n  b: *x\n",
            "line 2, column 6: the alias refers to a value that contains it",
        ),
        (
            "a:\n  <<: 1\n",
            "line 2, column 7: '<<' needs a map or a list of maps, but the value is neither",
        ),
        (
            "a: .inf\n",
            "line 1, column 4: the number .inf is not finite and cannot be written in JSON; quote it to keep it as text",
        ),
        (
            "a: =\n",
            "line 1, column 4: '=' has a special meaning in YAML 1.1; quote it to keep it as text",
        ),
        (
            "a: <<\n",
            "line 1, column 4: '<<' has a special meaning in YAML 1.1; quote it to keep it as text",
        ),
        (
            "a: !Ref b\n",
            "line 1, column 4: unknown tag '!Ref'; remove it, or quote the value if the '!' belongs to it",
        ),
        (
            "!!python/object:x {}\n",
            "line 1, column 1: unknown tag '!!python/object:x'; remove it, or quote the value if the '!' belongs to it",
        ),
        ("a: !!int x\n", "line 1, column 4: 'x' is not a valid !!int"),
        ("a: 0b_\n", "line 1, column 4: '0b_' is not a valid number"),
        (
            "a: !!seq x\n",
            "line 1, column 4: the tag '!!seq' does not match its value; remove it, or change the value",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "line 3, column 1: a second document begins here; only one is expected",
        ),
        (
            "a:\n\tb: c\n",
            "line 2, column 2: the line is indented with a tab; indent with spaces",
        ),
        (
            "a: 1\nb: \0c\n",
            "line 2, column 4: the control character U+0000 is not allowed in YAML",
        ),
        (
            "a: b: c\n",
            "line 1, column 5: mapping values are not allowed in this context",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(fails(text), expected, "for {text:?}");
    }
}

#[test]
fn an_error_shows_its_line_with_a_caret() {
    let error = read_with("a: 1\r\nname: [b, =]\r\n", Limits::DEFAULT).unwrap_err();
    assert_eq!(error.excerpt(), "2 | name: [b, =]\n  |           ^");
    let long = format!("x: [{}=]", "a, ".repeat(1000));
    let shown = read_with(&long, Limits::DEFAULT).unwrap_err().excerpt();
    assert!(shown.len() < 300, "{shown}");
    assert!(shown.lines().next().unwrap().ends_with("a, =]"), "{shown}");
}

#[test]
fn a_duplicate_key_is_a_warning_where_that_is_wanted_and_the_last_one_wins() {
    let document = read_with("a: 1\nb: 0\na: 2\n", Limits::DEFAULT).unwrap();
    assert_eq!(document.value.to_string(), r#"{"a":2,"b":0}"#);
    let warnings: Vec<_> = document.warnings.iter().map(ToString::to_string).collect();
    let expected = "line 3, column 1: duplicate key 'a' (first at line 1); the last one counts";
    assert_eq!(warnings, [expected]);
}

#[test]
fn what_is_merged_is_no_duplicate_but_giving_a_key_twice_beside_it_is() {
    let base = "base: &b {x: 1}\n";
    let merged = format!("{base}a: {{<<: *b, x: 2}}\n");
    let document = read(&merged, &Limits::DEFAULT, Duplicates::Error).unwrap();
    assert_eq!(document.value["a"], json!({"x": 2}));
    let twice = fails(&format!("{base}a: {{<<: *b, x: 2, x: 3}}\n"));
    assert_eq!(
        twice,
        "line 2, column 19: duplicate key 'x' (first at line 2)"
    );
}

#[test]
fn a_flood_of_duplicates_leaves_a_hundred_warnings() {
    let document = read_with(&"a: 1\n".repeat(5000), Limits::DEFAULT).unwrap();
    assert_eq!(document.warnings.len(), 100);
}

#[test]
fn sets_and_ordered_maps_keep_the_shape_they_are_written_in() {
    assert_eq!(reads("!!set {a, b}"), json!({"a": null, "b": null}));
    assert_eq!(reads("!!omap [a: 1, b: 2]"), json!([{"a": 1}, {"b": 2}]));
}

#[test]
fn each_limit_is_an_error_of_its_own() {
    let limits = Limits {
        bytes: 100,
        depth: 5,
        nodes: 20,
    };
    assert_eq!(
        kind(&"a".repeat(101), limits),
        YamlErrorKind::TooLarge { limit: 100 }
    );
    assert_eq!(
        kind("[[[[[[1]]]]]]", limits),
        YamlErrorKind::TooDeep { limit: 5 }
    );
    assert_eq!(
        kind(&"- 1\n".repeat(20), limits),
        YamlErrorKind::TooManyNodes { limit: 20 }
    );
    assert!(read_with("[[[[[1]]]]]", limits).is_ok());
    assert!(read_with(&"- 1\n".repeat(19), limits).is_ok());
}

#[test]
fn a_billion_laughs_end_at_the_limit_of_values() {
    let mut text = "a0: &a0 [lol]\n".to_owned();
    for level in 1..40 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        text += &format!("a{level}: &a{level} [{below}]\n");
    }
    let limit = Limits::DEFAULT.nodes;
    assert_eq!(
        kind(&text, Limits::DEFAULT),
        YamlErrorKind::TooManyNodes { limit }
    );
}

#[test]
fn a_long_text_that_aliases_repeat_ends_at_the_limit_of_bytes() {
    let text = format!("- &a {}\n{}", "x".repeat(1_000_000), "- *a\n".repeat(100));
    let limit = Limits::DEFAULT.bytes;
    assert_eq!(
        kind(&text, Limits::DEFAULT),
        YamlErrorKind::TooLarge { limit }
    );
}

#[test]
fn a_chain_of_aliases_and_merges_ends_at_the_limit_of_depth() {
    for (open, close) in [("[", "]"), ("{<<: ", "}"), ("{x: ", "}")] {
        let mut text = "- &a0 {}\n".to_owned();
        for level in 1..2000 {
            text += &format!("- &a{level} {open}*a{}{close}\n", level - 1);
        }
        let limit = Limits::DEFAULT.depth;
        assert_eq!(
            kind(&text, Limits::DEFAULT),
            YamlErrorKind::TooDeep { limit },
            "{open}"
        );
    }
}

#[test]
fn endless_nesting_of_any_style_is_refused_without_a_deep_stack() {
    let limit = Limits::DEFAULT.depth;
    for text in ["[", "{a: ", "- ", "? ", "[{a: "] {
        let text = text.repeat(1_000_000);
        let kind = kind(&text, Limits::DEFAULT);
        assert_eq!(kind, YamlErrorKind::TooDeep { limit }, "{}", &text[..5]);
    }
}

#[test]
fn a_stream_gives_all_its_documents_and_shares_the_limits() {
    let text = "a: 1\n---\n# nothing\n---\n- b\n...\n";
    let documents = read_all(text, &Limits::DEFAULT, Duplicates::Error).unwrap();
    let values: Vec<_> = documents
        .into_iter()
        .map(|document| document.value)
        .collect();
    assert_eq!(values, [json!({"a": 1}), json!(null), json!(["b"])]);
    let limits = Limits {
        nodes: 3,
        ..Limits::DEFAULT
    };
    assert!(read_all(text, &limits, Duplicates::Error).is_err());
}

#[test]
fn a_path_leads_to_its_place_or_as_near_as_there_is_one() {
    let text = "base: &b\n  zone: z\nresources:\n- name: a\n- name: b\n  <<: *b\n  0x10: c\n  a/b~c: [1]\n";
    let cases = [
        ("", (1, 1)),
        ("/resources", (3, 1)),
        ("/resources/1", (5, 3)),
        ("/resources/1/name", (5, 3)),
        ("/resources/1/zone", (6, 3)),
        ("/resources/1/16", (7, 3)),
        ("/resources/1/a~1b~0c/0", (8, 11)),
        ("/resources/0/type", (4, 3)),
        ("/resources/7/name", (3, 1)),
        ("/nothing/here", (1, 1)),
    ];
    for (pointer, (line, column)) in cases {
        let place = locate(text, pointer, &Limits::DEFAULT);
        assert_eq!(place, Some(Location { line, column }), "for {pointer:?}");
    }
    assert_eq!(locate("a: [", "/a", &Limits::DEFAULT), None);
}

#[test]
fn a_place_can_be_shown_without_an_error_of_ours() {
    let place = Location { line: 2, column: 3 };
    assert_eq!(excerpt("a:\n  é: 1\n", place), "2 |   é: 1\n  |   ^");
    assert_eq!(excerpt("a", place), "");
}

#[test]
fn columns_count_characters_from_the_first_behind_the_byte_order_mark() {
    let error = read_with("\u{feff}é: =\n", Limits::DEFAULT).unwrap_err();
    assert_eq!(error.location, Location { line: 1, column: 4 });
    assert_eq!(error.excerpt(), "1 | é: =\n  |    ^");
}
