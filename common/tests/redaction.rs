//! Hiding secrets costs no more than the text is long, and what is given up is hidden, not shown.

use common::redact::{REDACTED, Redactor};
use serde_json::{Value, json};

#[test]
fn of_many_secrets_with_one_beginning_each_is_found() {
    let secrets: Vec<Value> = (0..2_000)
        .map(|number| json!(format!("the-same-beginning-{number:06}")))
        .collect();
    let redactor = Redactor::new(&secrets);
    let text = "x the-same-beginning-001234 y ".repeat(2_000);
    assert_eq!(redactor.text(&text), "x (redacted) y ".repeat(2_000));
}

#[test]
fn the_longest_of_several_is_hidden() {
    let secrets = [
        "0123456789abcdef",
        "0123456789abcdefgh",
        "0123456789abcdefz",
    ];
    let redactor = Redactor::new(&secrets.map(Value::from));
    for text in secrets {
        assert_eq!(redactor.text(&format!("({text})")), "((redacted))");
    }
    assert_eq!(redactor.text("0123456789abcdefg-"), "(redacted)-");
}

#[test]
fn a_text_that_repeats_the_beginning_of_a_secret_is_hidden_whole() {
    let secret = json!("a".repeat(60_000));
    let redactor = Redactor::new([&secret]);
    let text = format!("before {}", "a".repeat(1_000_000));
    assert_eq!(redactor.text(&text), REDACTED);
    assert_eq!(redactor.text("before"), "before");
}

#[test]
fn of_more_secrets_than_are_looked_for_every_text_is_hidden() {
    let secrets: Vec<Value> = (0..70_000)
        .map(|number: u64| {
            json!(format!(
                "{:016x}",
                number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ))
        })
        .collect();
    let redactor = Redactor::new(&secrets);
    assert!(!redactor.is_empty());
    let mut value = json!(["anything", 1, null, true, ""]);
    assert!(redactor.value(&mut value));
    assert_eq!(value, json!([REDACTED, REDACTED, null, true, ""]));
}
