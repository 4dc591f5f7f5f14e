//! Removes secret values from messages, answers and logs.
//!
//! Finds a value in its original form, escaped, percent-encoded, or in base64, alone or within a longer text. It does
//! not know where secrets come from and who must not see them. It cannot find other forms that a template computes from
//! a secret, such as a digest or reversed text.
//!
//! Short values are found in fewer places, because they occur in many texts by chance: see [`ANYWHERE`] and
//! [`AS_WORD`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::api::deployer::FieldChange;
use crate::api::error::ErrorBody;

/// Stands for a redacted value. It is plain text in YAML too, so it stays the same when it is read back.
pub const REDACTED: &str = "(redacted)";

/// A value with at least this many bytes is found anywhere in a text.
const ANYWHERE: usize = 6;
/// A shorter value with at least this many bytes is found where no letter or digit is next to it. Even shorter values
/// and booleans are not searched for: they are redacted only in their own fields.
const AS_WORD: usize = 4;
/// This many bytes at the start of a longer value count as the value, because messages are clipped.
const HEAD: usize = 16;
/// The mark at the end of a clipped text. The part of a value directly before it is redacted, even if it is shorter
/// than that.
const CUT: char = '…';
/// The maximum number of different beginnings to search for. They take about 100 MiB. With more secrets, all texts are
/// redacted whole.
const HEADS: usize = 250_000;
/// The maximum number of bytes to compare for each byte of a text. A text that needs more repeats the beginnings of
/// secrets many times: it is redacted whole.
const COMPARED_PER_BYTE: usize = 64;
/// Each line of a value up to this size is a secret of its own, because templates indent keys and certificates.
const LINES_BYTES: usize = 64 * 1024;

/// Redacts a set of values.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    heads: Option<AhoCorasick>,
    /// There are too many values to search for. Every text is redacted whole.
    hides_all: bool,
    /// The heads, sorted.
    starts: Vec<String>,
    /// The values that begin with each head, sorted, in the order of the heads.
    forms: Vec<Vec<String>>,
}

impl Redactor {
    /// A redactor of all texts and numbers in the values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        Self::sparing(values, &BTreeSet::new())
    }

    /// The same without words that are public anyway.
    pub fn sparing<'v>(
        values: impl IntoIterator<Item = &'v Value>,
        words: &BTreeSet<String>,
    ) -> Self {
        let mut texts = BTreeSet::new();
        for value in values {
            gather(value, &mut texts);
        }
        let forms = texts.iter().flat_map(|text| forms(text));
        Self::of_forms(forms.filter(|form| !words.contains(form)).collect())
    }

    fn of_forms(forms: BTreeSet<String>) -> Self {
        let mut by_head: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for form in forms {
            let head = &form[..form.floor_char_boundary(HEAD)];
            by_head.entry(head.to_owned()).or_default().push(form);
        }
        let (heads, forms): (Vec<_>, Vec<_>) = by_head.into_iter().unzip();
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::Standard);
        let is_little = !heads.is_empty() && heads.len() <= HEADS;
        let built = is_little.then(|| builder.build(&heads).ok()).flatten();
        Self {
            hides_all: built.is_none() && !heads.is_empty(),
            heads: built,
            starts: heads,
            forms,
        }
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.heads.is_none() && !self.hides_all
    }

    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.found(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut hidden, mut end) = (String::with_capacity(text.len()), 0);
        for range in found {
            hidden.push_str(&text[end..range.start]);
            hidden.push_str(REDACTED);
            end = range.end;
        }
        hidden.push_str(&text[end..]);
        Cow::Owned(hidden)
    }

    /// Redacts in place. Returns whether it changed the text.
    pub fn string(&self, text: &mut String) -> bool {
        let hidden = match self.text(text) {
            Cow::Borrowed(_) => return false,
            Cow::Owned(hidden) => hidden,
        };
        *text = hidden;
        true
    }

    /// Redacts all texts, keys and numbers of a value. Returns whether it changed any.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            _ if self.is_empty() => false,
            Value::String(text) => self.string(text),
            Value::Number(number) => {
                let text = number.to_string();
                let is_whole = self.found(&text).first() == Some(&(0..text.len()));
                if is_whole {
                    *value = Value::from(REDACTED);
                }
                is_whole
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |any, item| self.value(item) | any),
            Value::Object(map) => self.map(map),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn map(&self, map: &mut Map<String, Value>) -> bool {
        let within = map
            .values_mut()
            .fold(false, |any, value| self.value(value) | any);
        if map.keys().all(|key| self.found(key).is_empty()) {
            return within;
        }
        let entries = std::mem::take(map).into_iter();
        map.extend(entries.map(|(key, value)| (self.text(&key).into_owned(), value)));
        true
    }

    /// Redacts fields that differ. If the old or the new value is secret, both are redacted.
    pub fn changes(&self, changes: &mut [FieldChange]) {
        for change in changes {
            self.string(&mut change.path);
            let mut sides = [&mut change.before, &mut change.after];
            let hide = |side: &mut &mut Option<Value>| {
                side.as_mut().is_some_and(|value| self.value(value))
            };
            if sides.iter_mut().fold(false, |any, side| hide(side) | any) {
                for side in sides.into_iter().flatten() {
                    *side = Value::from(REDACTED);
                }
            }
        }
    }

    /// Redacts the texts of an error and its causes.
    pub fn error(&self, error: &mut ErrorBody) {
        self.string(&mut error.message);
        if let Some(location) = &mut error.location {
            let parts = [&mut location.resource, &mut location.path];
            for part in parts.into_iter().flatten() {
                self.string(part);
            }
        }
        error.causes.iter_mut().for_each(|cause| self.error(cause));
    }

    /// The ranges to redact, in order and without overlaps.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let whole = std::iter::once(0..text.len());
        if self.hides_all {
            return whole.filter(|range| !range.is_empty()).collect();
        }
        let Some(heads) = &self.heads else {
            return Vec::new();
        };
        let mut compared = 0;
        let mut ranges = Vec::new();
        for found in heads.find_overlapping_iter(text) {
            let Some(forms) = self.forms.get(found.pattern().as_usize()) else {
                continue;
            };
            if let Some(end) = longest(text, found.start(), forms) {
                compared += end - found.start();
                ranges.push(found.start()..end);
            }
            if compared > COMPARED_PER_BYTE * text.len().max(ANYWHERE) {
                return whole.collect();
            }
        }
        let cuts = text.match_indices(CUT);
        ranges.extend(cuts.filter_map(|(end, _)| self.cut(text, end)));
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match apart.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => apart.push(range),
            }
        }
        apart
    }

    /// The part of a secret that is left where the text was clipped.
    fn cut(&self, text: &str, end: usize) -> Option<Range<usize>> {
        let begins = |part: &str| {
            let at = self.starts.partition_point(|head| head.as_str() < part);
            self.starts
                .get(at)
                .is_some_and(|head| head.starts_with(part))
        };
        let starts = (AS_WORD..HEAD)
            .rev()
            .filter_map(|length| end.checked_sub(length));
        let mut starts = starts.filter(|start| text.is_char_boundary(*start));
        starts
            .find(|start| begins(&text[*start..end]))
            .map(|start| start..end)
    }
}

/// The end of the form that shares the longest prefix with the text here. The forms are sorted, so that form is next to
/// the position of the text among them.
fn longest(text: &str, start: usize, forms: &[String]) -> Option<usize> {
    let rest = &text[start..];
    let place = forms.partition_point(|form| form.as_str() < rest);
    let neighbours = &forms[place.saturating_sub(1)..forms.len().min(place + 1)];
    let ends = neighbours.iter().filter_map(|form| at(text, start, form));
    ends.max()
}

/// The end of the form at this place of the text, or of enough of the form to count as the value.
fn at(text: &str, start: usize, form: &str) -> Option<usize> {
    let rest = &text[start..];
    let same = rest.bytes().zip(form.bytes()).take_while(|(a, b)| a == b);
    let end = start + rest.floor_char_boundary(same.count());
    let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_within_a_word =
        beside(text[..start].chars().next_back()) || beside(text[end..].chars().next());
    (form.len() >= ANYWHERE || !is_within_a_word).then_some(end)
}

fn gather(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_reference(text) => {}
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Number(number) => drop(texts.insert(number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(map) => map.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A reference is not secret by itself.
fn is_reference(text: &str) -> bool {
    text == REDACTED || text.starts_with("$(") && text.find(')') == Some(text.len() - 1)
}

/// The forms in which a text may appear.
fn forms(text: &str) -> Vec<String> {
    let mut forms = in_base64(text);
    for text in [Some(text.to_owned()), of_base64(text)]
        .into_iter()
        .flatten()
    {
        let lines = text.lines().map(str::trim);
        match text.len() <= LINES_BYTES {
            true => lines.for_each(|line| forms.extend(written(line))),
            false => forms.push(text),
        }
    }
    forms.retain(|form| form.len() >= AS_WORD);
    forms
}

/// The characters that RFC 3986 percent-encodes in data.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn written(line: &str) -> [String; 7] {
    let quoted = Value::from(line).to_string();
    let quoted = &quoted[1..quoted.len() - 1];
    // Go writes JSON in this form, and so do the API server's refusals.
    let in_go = quoted.replace('&', "\\u0026");
    let in_go = in_go.replace('<', "\\u003c").replace('>', "\\u003e");
    [
        line.to_owned(),
        quoted.to_owned(),
        in_go,
        line.replace('\\', "\\\\").replace('\'', "\\'"),
        line.replace('\'', "''"),
        utf8_percent_encode(line, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(line, RESERVED).to_string(),
    ]
}

/// The decoded base64, if it is text.
fn of_base64(text: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
    let is_text = |c: char| !c.is_control() || c.is_whitespace();
    text.chars().all(is_text).then_some(text)
}

/// The whole value in each alphabet, and its middle for each position in a longer text.
fn in_base64(text: &str) -> Vec<String> {
    if text.trim().len() < AS_WORD {
        return Vec::new();
    }
    let mut forms: Vec<String> = [text, text.trim()]
        .iter()
        .flat_map(|text| {
            [
                STANDARD.encode(text),
                URL_SAFE.encode(text),
                STANDARD_NO_PAD.encode(text),
                URL_SAFE_NO_PAD.encode(text),
            ]
        })
        .collect();
    for before in 1..=3 {
        let bytes = [&vec![0; before % 3], text.trim().as_bytes()].concat();
        // A character holds six bits. Characters that share bits with a neighbour of the value are left out.
        let (first, last) = ((before % 3 * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [
            STANDARD_NO_PAD.encode(&bytes),
            URL_SAFE_NO_PAD.encode(&bytes),
        ] {
            let middle = encoded.get(first..last).unwrap_or_default();
            forms.extend((middle.len() >= ANYWHERE).then(|| middle.to_owned()));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
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
}
