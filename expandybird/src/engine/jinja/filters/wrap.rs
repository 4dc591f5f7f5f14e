//! `wordwrap`, line by line like Python's `textwrap`.

use minijinja::{Error, Value};

use crate::engine::jinja::meter;
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::python;

pub fn wordwrap(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, width, break_long_words, newline, break_on_hyphens] = call.arguments();
    let wrapper = Wrapper {
        width: python::count(&width.or(79))?,
        break_long_words: break_long_words.flag(true),
        break_on_hyphens: break_on_hyphens.flag(true),
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
            let mut length = 0;
            while let Some(chunk) = chunks.pop_if(|chunk| length + count(chunk) <= self.width) {
                length += count(&chunk);
                line.push(chunk);
            }
            if let Some(long) = chunks.pop_if(|chunk| count(chunk) > self.width) {
                self.place(long, length, &mut line, &mut chunks);
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
    fn place(&self, long: String, length: usize, line: &mut Vec<String>, chunks: &mut Vec<String>) {
        let room = self.width - length;
        if self.break_long_words {
            let end = self.hyphen(&long, room).unwrap_or(room);
            line.push(long.chars().take(end).collect());
            chunks.push(long.chars().skip(end).collect());
        } else if line.is_empty() {
            line.push(long);
        } else {
            chunks.push(long);
        }
    }

    /// After the last hyphen that fits, if there is text before it.
    fn hyphen(&self, long: &str, room: usize) -> Option<usize> {
        let fits: Vec<char> = long.chars().take(room).collect();
        let last = fits.iter().rposition(|c| *c == '-')?;
        let has_text = fits[..last].iter().any(|c| *c != '-');
        (self.break_on_hyphens && count(long) > room && has_text).then_some(last + 1)
    }

    /// White space, and words. Words are divided at hyphens.
    fn chunks(&self, text: &str) -> Vec<String> {
        let mut chunks: Vec<String> = Vec::new();
        let characters: Vec<char> = text.chars().collect();
        for (index, character) in characters.iter().enumerate() {
            let continues = index > 0
                && characters[index - 1].is_whitespace() == character.is_whitespace()
                && !(self.break_on_hyphens && is_break(&characters, index));
            match chunks.last_mut() {
                Some(chunk) if continues => chunk.push(*character),
                _ => chunks.push(character.to_string()),
            }
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

fn count(chunk: &str) -> usize {
    chunk.chars().count()
}
