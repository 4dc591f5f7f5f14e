//! Removes secret values from messages, answers and logs.
//!
//! Finds a value in its original form, escaped, percent-encoded, or in base64, alone or within a longer text. It does
//! not know where secrets come from and who must not see them. It cannot find other forms that a template computes from
//! a secret, such as a digest or reversed text.
//!
//! Short values are found in fewer places, because they occur in many texts by chance: see [`ANYWHERE`] and
//! [`AS_WORD`].

mod forms;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};

use self::forms::{forms, gather};
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

#[cfg(test)]
mod tests;
