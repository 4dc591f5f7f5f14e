//! From text to tokens.

use super::parser::Delimiters;
use super::token::{Kind, Token};
use crate::text;

/// The characters that Go takes for spaces inside actions and trims outside.
const SPACES: &[u8] = b" \t\r\n";
/// The marker and the space beside it.
const TRIM_MARKER_BYTES: usize = 2;

/// The state between two tokens.
pub struct Lexer<'a> {
    pub(super) input: &'a [u8],
    pub(super) delimiters: &'a Delimiters,
    pub(super) position: usize,
    /// Where the token begins that is being read.
    pub(super) start: usize,
    /// Up to where `line` counts.
    counted: usize,
    line: usize,
    is_inside_action: bool,
    parens: usize,
    /// Whether `break` and `continue` are keywords: they are not if they are functions.
    pub has_break: bool,
    pub has_continue: bool,
    /// The text of the last [`Kind::Error`].
    pub message: String,
}

impl<'a> Lexer<'a> {
    pub fn new(input: &'a [u8], delimiters: &'a Delimiters) -> Self {
        Self {
            input,
            delimiters,
            position: 0,
            start: 0,
            counted: 0,
            line: 1,
            is_inside_action: false,
            parens: 0,
            has_break: true,
            has_continue: true,
            message: String::new(),
        }
    }

    /// The next token.
    pub fn next_token(&mut self) -> Token {
        if self.is_inside_action {
            self.inside_action()
        } else {
            self.outside_action()
        }
    }

    pub(super) fn left(&self) -> &'a [u8] {
        self.input.get(self.position..).unwrap_or_default()
    }

    fn begins(&self, offset: usize, text: &[u8]) -> bool {
        let left = self.left().get(offset..).unwrap_or_default();
        left.starts_with(text)
    }

    pub(super) fn emit(&mut self, kind: Kind) -> Token {
        let range = self.start..self.position;
        let skipped = self.input.get(self.counted..self.start).unwrap_or_default();
        self.line += skipped.iter().filter(|&&byte| byte == b'\n').count();
        self.counted = self.start;
        self.start = self.position;
        Token {
            kind,
            range,
            line: self.line,
        }
    }

    /// An error ends the input.
    pub(super) fn fail(&mut self, message: impl Into<String>) -> Token {
        self.message = message.into();
        let token = self.emit(Kind::Error);
        self.input = &[];
        (self.position, self.start, self.counted) = (0, 0, 0);
        token
    }

    fn ignore(&mut self) {
        self.start = self.position;
    }

    fn outside_action(&mut self) -> Token {
        loop {
            let Some(length) = find(self.left(), &self.delimiters.left) else {
                self.position = self.input.len();
                let is_empty = self.position == self.start;
                return self.emit(if is_empty { Kind::Eof } else { Kind::Text });
            };
            if let Some(text) = self.text_before_action(length) {
                return text;
            }
            if let Some(token) = self.left_delimiter() {
                return token;
            }
        }
    }

    /// The text before an action, without the space that the action trims.
    fn text_before_action(&mut self, length: usize) -> Option<Token> {
        let after = length + self.delimiters.left.len();
        let text = self.left().get(..length).unwrap_or_default();
        let is_trimmed = has_left_marker(self.left().get(after..).unwrap_or_default());
        let kept = if is_trimmed {
            trimmed_end(text)
        } else {
            length
        };
        let end = self.position + length;
        self.position += kept;
        let token = (kept > 0).then(|| self.emit(Kind::Text));
        self.position = end;
        self.ignore();
        token
    }

    /// The delimiter; `None` after a comment.
    fn left_delimiter(&mut self) -> Option<Token> {
        self.position += self.delimiters.left.len();
        let marker = if has_left_marker(self.left()) {
            TRIM_MARKER_BYTES
        } else {
            0
        };
        if self.begins(marker, b"/*") {
            self.position += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.emit(Kind::LeftDelimiter);
        self.is_inside_action = true;
        self.position += marker;
        self.ignore();
        self.parens = 0;
        Some(token)
    }

    fn comment(&mut self) -> Option<Token> {
        self.position += 2;
        let Some(length) = find(self.left(), b"*/") else {
            return Some(self.fail("unclosed comment"));
        };
        self.position += length + 2;
        let Some(is_trimmed) = self.at_right_delimiter() else {
            return Some(self.fail("comment ends before closing delimiter"));
        };
        self.skip_right_delimiter(is_trimmed);
        self.ignore();
        None
    }

    /// Whether the right delimiter is next, and then whether it trims.
    fn at_right_delimiter(&self) -> Option<bool> {
        let right = &self.delimiters.right;
        if has_right_marker(self.left()) && self.begins(TRIM_MARKER_BYTES, right) {
            return Some(true);
        }
        self.begins(0, right).then_some(false)
    }

    fn skip_right_delimiter(&mut self, is_trimmed: bool) {
        if is_trimmed {
            self.position += TRIM_MARKER_BYTES;
        }
        self.position += self.delimiters.right.len();
        if is_trimmed {
            let spaces = self.left().iter().take_while(|byte| SPACES.contains(byte));
            self.position += spaces.count();
        }
    }

    fn right_delimiter(&mut self, is_trimmed: bool) -> Token {
        if is_trimmed {
            self.position += TRIM_MARKER_BYTES;
            self.ignore();
        }
        self.position += self.delimiters.right.len();
        let token = self.emit(Kind::RightDelimiter);
        if is_trimmed {
            let spaces = self.left().iter().take_while(|byte| SPACES.contains(byte));
            self.position += spaces.count();
            self.ignore();
        }
        self.is_inside_action = false;
        token
    }

    fn inside_action(&mut self) -> Token {
        if let Some(is_trimmed) = self.at_right_delimiter() {
            return match self.parens {
                0 => self.right_delimiter(is_trimmed),
                _ => self.fail("unclosed left paren"),
            };
        }
        let (rune, length) = text::decode_rune(self.left());
        if length == 0 {
            return self.fail("unclosed action");
        }
        let rune = rune.unwrap_or(text::RUNE_ERROR);
        if is_space(rune) {
            return self.space();
        }
        self.position += length;
        self.word(rune)
    }

    fn space(&mut self) -> Token {
        let spaces = self
            .left()
            .iter()
            .take_while(|byte| SPACES.contains(byte))
            .count();
        self.position += spaces - 1;
        if self.at_right_delimiter() == Some(true) {
            if spaces == 1 {
                return self.right_delimiter(true);
            }
        } else {
            self.position += 1;
        }
        self.emit(Kind::Space)
    }

    pub(super) fn open_paren(&mut self) -> Token {
        self.parens += 1;
        self.emit(Kind::LeftParen)
    }

    pub(super) fn close_paren(&mut self) -> Token {
        match self.parens.checked_sub(1) {
            Some(parens) => {
                self.parens = parens;
                self.emit(Kind::RightParen)
            }
            None => self.fail("unexpected right paren"),
        }
    }
}

pub(super) fn is_space(rune: char) -> bool {
    matches!(rune, ' ' | '\t' | '\r' | '\n')
}

fn has_left_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if SPACES.contains(space))
}

fn has_right_marker(text: &[u8]) -> bool {
    matches!(text, [space, b'-', ..] if SPACES.contains(space))
}

fn trimmed_end(text: &[u8]) -> usize {
    let spaces = text.iter().rev().take_while(|byte| SPACES.contains(byte));
    text.len() - spaces.count()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let (&first, rest) = wanted.split_first()?;
    let mut from = 0;
    loop {
        let left = text.get(from..)?;
        let found = from + left.iter().position(|&byte| byte == first)?;
        if text.get(found + 1..)?.starts_with(rest) {
            return Some(found);
        }
        from = found + 1;
    }
}
