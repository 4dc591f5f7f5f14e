//! What is written reads back the same, in YAML 1.1 and 1.2.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by failing"
)]

use common::yaml::{Duplicates, Limits, read, write};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn read_back(text: &str) -> Value {
    read(text, &Limits::DEFAULT, Duplicates::Error)
        .unwrap()
        .value
}

#[test]
fn a_value_is_laid_out_in_blocks_in_the_order_of_its_keys() {
    let value = json!({"resources": [{"name": "a", "ports": [80], "script": "one\ntwo\n", "none": {}, "empty": []}]});
    let expected = "\
resources:
- name: a
  ports:
  - 80
  script: |
    one
    two
  none: {}
  empty: []
";
    assert_eq!(write(&value).unwrap(), expected);
}

/// Each text of the table was read by PyYAML 6.0.3, which gave the value beside it.
#[test]
fn every_value_of_the_table_is_written_as_the_text_that_pyyaml_has_read() {
    let table: Vec<Value> = serde_json::from_str(include_str!("yaml/written.json")).unwrap();
    assert!(table.len() > 400, "only {} values", table.len());
    for entry in &table {
        assert_eq!(write(&entry["value"]).unwrap(), entry["text"], "{entry}");
    }
}

#[test]
fn text_that_some_reader_takes_for_something_else_is_quoted() {
    let texts = "yes Yes YES no on Off true False null NULL ~ y n Y N yEs = << 0 -0 12 0755 08 0o7 0O7 0x1f 0b1 1_000 \
                 1e3 1E3 1.0 1. .5 -.5 +.5 1.0e+3 22:30 1:30.5 190:20:30 2016-01-01 2001-12-14T21:59:43Z \
                 .inf -.inf +.INF .nan .NaN - ? : # & * ! | > % @ ` [] {} , ' \" --- ...";
    for text in texts.split_whitespace().chain([
        "",
        " ",
        " a",
        "a ",
        "a: b",
        "a #b",
        "\t",
        "2001-12-14 21:59:43.10 -5",
    ]) {
        let value = json!({text: text});
        let written = write(&value).unwrap();
        assert!(
            written.starts_with(['"', '\'']),
            "{text:?} as a key: {written}"
        );
        assert!(
            written.trim_end().ends_with(['"', '\'']),
            "{text:?} as a value: {written}"
        );
        assert_eq!(read_back(&written), value, "{written}");
    }
}

#[test]
fn ordinary_text_stays_plain() {
    for text in [
        "a",
        "us-central1-a",
        "10.0.0.1",
        "1.2.3",
        "v1",
        "nginx:1.9",
        "500Mi",
        "a b",
        "http://x/y",
        "Année",
        "none",
        "yesterday",
        "0abc",
    ] {
        assert_eq!(write(&json!(text)).unwrap(), format!("{text}\n"));
    }
}

#[test]
fn floats_have_the_dot_and_the_sign_that_yaml_1_1_wants() {
    let cases = [
        (1.0, "1.0"),
        (-0.5, "-0.5"),
        (1e15, "1000000000000000.0"),
        (1e16, "1.0e+16"),
        (1.5e300, "1.5e+300"),
        (1e-7, "1.0e-07"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
    ];
    for (float, expected) in cases {
        let written = write(&json!(float)).unwrap();
        assert_eq!(written, format!("{expected}\n"));
        assert_eq!(read_back(&written), json!(float));
    }
}

#[test]
fn text_that_looks_like_the_marks_of_the_writer_survives() {
    let mark = '\u{e000}';
    let value = json!([
        format!("{mark}"), format!("\u{7}{mark}{mark}yes"), format!("\\a{mark}"), format!("{mark}1e3{mark}{mark}"),
        "\\a", "\"\\a", "\u{7}", "yes", 1e30, { format!("\u{7}{mark}"): format!("\n{mark}\n\\a{mark}") }
    ]);
    assert_eq!(read_back(&write(&value).unwrap()), value);
}

#[test]
fn text_of_many_lines_survives_whatever_surrounds_it() {
    for text in [
        "\n",
        "\n\n",
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b\n",
        "a \nb",
        "\ta\nb\n",
        "a\n\tb",
        "a\r\nb",
        "# a\nb",
        "- a\n- b\n",
        "a\n   \nb",
        "---\n",
        "a\u{2028}b\nc",
        "\u{85}\n",
    ] {
        for value in [
            json!(text),
            json!({"k": text}),
            json!([text, text]),
            json!({text: {"k": [text]}}),
        ] {
            let written = write(&value).unwrap();
            assert_eq!(read_back(&written), value, "{written}");
        }
    }
}

fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "yes", "~", "1", "0", "7", "e", "+", "-", ".", ":", " ", "  ", "\n", "\t", "\r", "#", "'",
        "\"", "\\", "\\a", "|", ">", "&", "*", "!", "%", "@", "`", "{", "}", "[", "]", ",", "?",
        "=", "<<", "a", "é", "\u{e000}", "\u{7}", "\0", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}",
        "\u{fffe}", "😀", "---", "...", "null", "x_",
    ]);
    prop_oneof![
        prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| serde_json::Number::from_f64(f)
            .map(Value::Number)),
        nasty_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((nasty_text(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_written_reads_back_the_same(value in any_value()) {
        let written = write(&value).unwrap();
        let back = read(&written, &Limits::DEFAULT, Duplicates::Error);
        prop_assert_eq!(back.map(|document| document.value.to_string()).map_err(|e| e.to_string()), Ok(value.to_string()), "{}", written);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in nasty_text()) {
        let _ = read(&text, &Limits::DEFAULT, Duplicates::Warn);
    }
}
