//! `wordwrap`, line by line like Python's `textwrap`.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use crate::engine::jinja::meter;
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::python;

pub fn wordwrap(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, width, break_long_words, newline, break_on_hyphens] = call.arguments();
    let on_hyphens = break_on_hyphens.or(true);
    let wrapper = Wrapper {
        width: python::count(&width.or(79))?,
        break_long_words: break_long_words.flag(true),
        splits_at_hyphens: on_hyphens.kind() == ValueKind::Bool && on_hyphens.is_true(),
        break_on_hyphens: on_hyphens.is_true(),
    };
    let newline = newline.some().unwrap_or_else(|| Value::from("\n"));
    let newline = python::text(&newline)?;
    let value = value.value();
    let mut lines = Vec::new();
    let mut bytes = 0_usize;
    for line in python::lines(python::text(&value)?, false) {
        if wrapper.width == 0 {
            return Err(python::invalid("invalid width 0 (must be > 0)"));
        }
        let wrapped = wrapper.wrap(line);
        bytes = bytes
            .saturating_add(line.len())
            .saturating_add(newline.len().saturating_mul(wrapped.len() + 1));
        meter::check(bytes)?;
        lines.push(wrapped.join(newline));
    }
    Ok(Value::from(lines.join(newline)))
}

struct Wrapper {
    width: usize,
    break_long_words: bool,
    /// Whether words are divided at hyphens. In Python, only `True` says so.
    splits_at_hyphens: bool,
    /// Whether a word that is longer than a line is broken behind a hyphen. Anything that is true says so.
    break_on_hyphens: bool,
}

impl Wrapper {
    fn wrap(&self, text: &str) -> Vec<String> {
        let mut chunks = self.chunks(text);
        chunks.reverse();
        let mut lines: Vec<String> = Vec::new();
        while !chunks.is_empty() {
            if !lines.is_empty() && chunks.last().is_some_and(|chunk| is_blank(chunk)) {
                chunks.pop();
            }
            let mut line = Vec::new();
            let mut room = self.width;
            while let Some(chunk) = chunks.pop_if(|chunk| fits(chunk, room)) {
                room -= chunk.chars().count();
                line.push(chunk);
            }
            if let Some(long) = chunks.pop_if(|chunk| !fits(chunk, self.width)) {
                self.place(long, room, &mut line, &mut chunks);
            }
            if line.last().is_some_and(|chunk| is_blank(chunk)) {
                line.pop();
            }
            if !line.is_empty() {
                lines.push(line.concat());
            }
        }
        lines
    }

    /// A chunk that is longer than a line.
    fn place<'t>(
        &self,
        long: &'t str,
        room: usize,
        line: &mut Vec<&'t str>,
        chunks: &mut Vec<&'t str>,
    ) {
        if self.break_long_words {
            let end = self.hyphen(long, room).unwrap_or(room);
            let end = long
                .char_indices()
                .nth(end)
                .map_or(long.len(), |(at, _)| at);
            let (here, rest) = long.split_at(end);
            line.push(here);
            chunks.push(rest);
        } else if line.is_empty() {
            line.push(long);
        } else {
            chunks.push(long);
        }
    }

    /// After the last hyphen that fits, if there is text before it.
    fn hyphen(&self, long: &str, room: usize) -> Option<usize> {
        let beginning: Vec<char> = long.chars().take(room).collect();
        let last = beginning.iter().rposition(|c| *c == '-')?;
        let has_text = beginning[..last].iter().any(|c| *c != '-');
        (self.break_on_hyphens && !fits(long, room) && has_text).then_some(last + 1)
    }

    /// White space, and words. Words are divided at hyphens.
    fn chunks<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let characters: Vec<char> = text.chars().collect();
        let is_start = |index: usize| {
            index > 0
                && (characters[index - 1].is_whitespace() != characters[index].is_whitespace()
                    || self.splits_at_hyphens && is_break(&characters, index))
        };
        let mut chunks = Vec::new();
        let mut from = 0;
        for (index, (at, _)) in text.char_indices().enumerate() {
            if is_start(index) {
                chunks.push(&text[from..at]);
                from = at;
            }
        }
        if from < text.len() {
            chunks.push(&text[from..]);
        }
        chunks
    }
}

/// After a hyphen with two letters before it, of which the nearer is not a digit, and two letters after it.
fn is_break(characters: &[char], index: usize) -> bool {
    let is_word = |at: usize| {
        characters
            .get(at)
            .is_some_and(|c| c.is_alphanumeric() || *c == '_')
    };
    let is_letter =
        |at: usize| is_word(at) && characters.get(at).is_some_and(|c| !c.is_ascii_digit());
    index >= 3
        && characters[index - 1] == '-'
        && is_letter(index - 2)
        && is_word(index - 3)
        && is_word(index)
        && is_letter(index + 1)
}

fn is_blank(chunk: &str) -> bool {
    chunk.chars().all(char::is_whitespace)
}

/// Whether it has at most so many characters. Of a longer one, no more are looked at.
fn fits(chunk: &str, room: usize) -> bool {
    chunk.chars().nth(room).is_none()
}
