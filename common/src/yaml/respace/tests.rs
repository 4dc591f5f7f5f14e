//! Indented texts, and what they become.

use super::*;

fn respaced(text: &str) -> String {
    respace(text).map_or_else(|| text.to_owned(), |respaced| respaced.text)
}

#[test]
fn lines_within_brackets_and_quotes_are_indented_deeper_than_their_block() {
    for (text, expected) in [
        ("a: [\n1,\n]\n", "a: [\n 1,\n ]\n"),
        (
            "- b:\n    c: {\n  d: 1\n  }\n",
            "- b:\n    c: {\n     d: 1\n     }\n",
        ),
        ("a: 'x\n\ny'\nb: 1\n", "a: 'x\n\n y'\nb: 1\n"),
        ("a: \"x\\\"\ny\"# c\n", "a: \"x\\\"\n y\" # c\n"),
        ("a: [x]# ]\nb: [\ny]\n", "a: [x] # ]\nb: [\n y]\n"),
        ("a: it's [\n b\nc: [\nd]\n", "a: it's [\n b\nc: [\n d]\n"),
        ("a: |\n  [\n  '\nb: [\nc]\n", "a: |\n  [\n  '\nb: [\n c]\n"),
        ("a: [it's, 'x',\nb]\n", "a: [it's, 'x',\n b]\n"),
        ("{a :[b:c]}\n", "{a : [b:c]}\n"),
        ("{?:\": \" }\n", "{? : \": \" }\n"),
        ("[a\n ',]#d\n", "[a\n ',] #d\n"),
        ("[a\n , 'b']#d\n", "[a\n , 'b'] #d\n"),
    ] {
        assert_eq!(respaced(text), expected, "{text:?}");
    }
}

#[test]
fn a_question_mark_at_the_end_of_a_text_has_a_blank_behind_it() {
    for (text, expected) in [
        ("?", "? "),
        ("a: 1\n?", "a: 1\n? "),
        ("- ?", "- ? "),
        ("?\n", "?\n"),
        ("a: b ?", "a: b ?"),
        (":", ":"),
    ] {
        assert_eq!(respaced(text), expected, "{text:?}");
    }
}

#[test]
fn the_halves_of_a_character_become_one_in_double_quotes() {
    for (text, expected) in [
        (
            r#"["\ud83d\ude00", "\\ud83d\ude00"]"#,
            r#"["\U0001F600", "\\ud83d\ude00"]"#,
        ),
        (
            r#"{a: "\uD83D\uDE00x", b: '\ud83d\ude00'}"#,
            r#"{a: "\U0001F600x", b: '\ud83d\ude00'}"#,
        ),
        (r#""\ud83d\u0041\ufeff""#, r#""\ud83d\u0041\ufeff""#),
        (r#"{"a":"\ud83d\ude00"}"#, r#"{"a": "\U0001F600"}"#),
    ] {
        assert_eq!(respaced(text), expected, "{text:?}");
    }
    let respaced = respace(r#"["\ud83d\ude00", b]"#).unwrap();
    let column = respaced.text.find('b').unwrap() + 1;
    let at = respaced.original(Location { line: 1, column });
    assert_eq!(at.column, 18);
}

#[test]
fn what_is_indented_stays_and_what_never_ends_is_left_alone() {
    for text in [
        "a: [\n 1 ]\n",
        "a: 'x\n  y'\n",
        "a: [\n",
        "a: '",
        "a: [\n---\n]\n",
    ] {
        assert!(respace(text).is_none(), "{text:?}");
    }
}

#[test]
fn a_place_is_told_as_it_was() {
    let respaced = respace("- a: [\né, b] # x\n").unwrap();
    assert_eq!(respaced.text, "- a: [\n   é, b] # x\n");
    let at = |line, column| respaced.original(Location { line, column });
    assert_eq!(at(1, 4), Location { line: 1, column: 4 });
    assert_eq!(at(2, 7), Location { line: 2, column: 4 });
    assert_eq!(at(2, 1), Location { line: 2, column: 1 });
}
