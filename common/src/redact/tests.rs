//! What is hidden, and what is not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;

fn redactor(values: Value) -> Redactor {
    Redactor::new([&values])
}

#[test]
fn a_value_is_hidden_in_every_form_in_which_it_comes_out() {
    let redactor = redactor(json!([
        "hunter2!",
        "it's \"me\"",
        "first line\nsecond line\n",
        "a-b <&> c_d"
    ]));
    for (text, expected) in [
        (r"got a-b \u003c\u0026\u003e c_d", "got (redacted)"),
        ("?p=a-b%20%3C%26%3E%20c_d", "?p=(redacted)"),
        ("password hunter2! is bad", "password (redacted) is bad"),
        (
            "postgres://u:hunter2%21@db/x",
            "postgres://u:(redacted)@db/x",
        ),
        (r#"got "it's \"me\"""#, r#"got "(redacted)""#),
        (r#"'it\'s "me"'"#, "'(redacted)'"),
        ("'it''s \"me\"'", "'(redacted)'"),
        ("    second line", "    (redacted)"),
        (r"first line\nsecond line", r"(redacted)\n(redacted)"),
        ("nothing of it", "nothing of it"),
    ] {
        assert_eq!(redactor.text(text), expected);
    }
    assert_eq!(redactor.text(&STANDARD.encode("hunter2!")), "(redacted)");
    let whole = STANDARD.encode("first line\nsecond line\n");
    assert_eq!(redactor.text(&whole), "(redacted)");
}

#[test]
fn of_a_value_in_base64_the_text_is_hidden_too() {
    let redactor = redactor(json!(STANDARD.encode("hunter2")));
    assert_eq!(redactor.text("is hunter2"), "is (redacted)");
}

#[test]
fn base64_of_a_longer_text_around_a_value_hides_it_too() {
    let redactor = redactor(json!("correct horse"));
    for before in ["", "a", "ab", "abc"] {
        let text = STANDARD.encode(format!("{before}correct horse, and more"));
        let hidden = redactor.text(&text);
        let parts: Vec<_> = hidden.split(REDACTED).collect();
        assert_eq!(parts.len(), 2, "{hidden}");
        let left: usize = parts.iter().map(|part| part.len()).sum();
        assert!(left <= text.len() - 14, "{hidden}");
    }
}

#[test]
fn a_clipped_value_is_hidden_as_far_as_it_is_there() {
    let redactor = redactor(json!("0123456789abcdefghij"));
    assert_eq!(redactor.text("x0123456789abcdefg…"), "x(redacted)…");
    assert_eq!(redactor.text("0123456789abcdeX"), "0123456789abcdeX");
    assert_eq!(redactor.text("x: 012345…"), "x: (redacted)…");
    assert_eq!(
        redactor.text("\"0123…, 0123456, 012…"),
        "\"(redacted)…, 0123456, 012…"
    );
}

#[test]
fn a_short_value_is_hidden_as_a_word_and_a_shorter_one_not_at_all() {
    let redactor = redactor(json!(["root", "abc", true, 1234, 80]));
    let cases = [
        (
            "root:x uproot roots root",
            "(redacted):x uproot roots (redacted)",
        ),
        ("abc true 80 1234", "abc true 80 (redacted)"),
    ];
    for (text, expected) in cases {
        assert_eq!(redactor.text(text), expected);
    }
    let mut value = json!({"pin": 1234, "port": 80, "root": [1, "root"]});
    assert!(redactor.value(&mut value));
    assert_eq!(
        value,
        json!({"pin": REDACTED, "port": 80, REDACTED: [1, REDACTED]})
    );
}

#[test]
fn values_that_overlap_are_hidden_to_their_last_letter() {
    let redactor = redactor(json!(["abcdef", "defghi", "abcdefgh"]));
    assert_eq!(redactor.text("<abcdefghi>"), "<(redacted)>");
}

#[test]
fn a_reference_is_no_secret_and_neither_is_nothing() {
    let redactor = redactor(json!(["$(ref.db.metadata.name)", REDACTED, "", null]));
    assert!(redactor.is_empty());
    assert!(!redactor.value(&mut json!("$(ref.db.metadata.name)")));
}

#[test]
fn words_that_everybody_sees_are_not_hidden() {
    let value = json!(STANDARD.encode("postgres"));
    let names = BTreeSet::from(["postgres".to_owned()]);
    let redactor = Redactor::sparing([&value], &names);
    let text = format!("postgres has {}", value.as_str().unwrap());
    assert_eq!(redactor.text(&text), "postgres has (redacted)");
}

#[test]
fn a_field_that_is_secret_on_one_side_is_so_on_the_other() {
    let mut changes: Vec<FieldChange> = serde_json::from_value(json!([
        {"path": "data.url", "before": "u:other@db", "after": "u:hunter22@db"},
        {"path": "data.new", "after": ["hunter22"]},
        {"path": "data.port", "before": 1, "after": 2},
    ]))
    .unwrap();
    redactor(json!("hunter22")).changes(&mut changes);
    assert_eq!(
        json!(changes),
        json!([
            {"path": "data.url", "before": REDACTED, "after": REDACTED},
            {"path": "data.new", "after": REDACTED},
            {"path": "data.port", "before": 1, "after": 2},
        ])
    );
}

#[test]
fn errors_are_hidden_with_all_their_causes() {
    use crate::api::error::ErrorCode;
    let error = |text| ErrorBody::new(ErrorCode::ResourcesFailed, text);
    let mut whole =
        error("hunter22").caused_by([error("x: hunter22").caused_by([error("hunter22")])]);
    redactor(json!("hunter22")).error(&mut whole);
    assert!(!format!("{whole:?}").contains("hunter"), "{whole:?}");
}

#[test]
fn texts_of_any_letters_are_cut_where_letters_end() {
    let redactor = redactor(json!(["пароль-секретный", "ёж"]));
    assert_eq!(
        redactor.text("«пароль-секретный» ёж ёжик"),
        "«(redacted)» (redacted) ёжик"
    );
    assert_eq!(redactor.text("пароль-скромный"), "(redacted)кромный");
}
