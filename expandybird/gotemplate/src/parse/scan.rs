//! The words inside an action.

use super::lexer::{Lexer, is_space};
use super::token::{Kind, Token};
use crate::text;

impl Lexer<'_> {
    /// The token that begins with this character, which is read already.
    pub(super) fn word(&mut self, first: char) -> Token {
        match first {
            '=' => self.emit(Kind::Assign),
            ':' => match self.next() {
                Some('=') => self.emit(Kind::Declare),
                _ => self.fail("expected :="),
            },
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string"),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw(),
            '$' => self.field_or_variable(Kind::Variable),
            '.' if !matches!(self.left().first(), None | Some(b'0'..=b'9')) => {
                self.field_or_variable(Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => self.number(),
            '(' => self.open_paren(),
            ')' => self.close_paren(),
            _ if is_alphanumeric(first) => self.identifier(),
            ' '..='~' => self.emit(Kind::Char),
            _ => self.fail(format!(
                "unrecognized character in action: {}",
                code_point(first)
            )),
        }
    }

    fn peek(&self) -> Option<char> {
        match text::decode_rune(self.left()) {
            (_, 0) => None,
            (rune, _) => Some(rune.unwrap_or(text::RUNE_ERROR)),
        }
    }

    fn next(&mut self) -> Option<char> {
        let rune = self.peek();
        self.position += text::decode_rune(self.left()).1;
        rune
    }

    fn accept(&mut self, set: &[u8]) -> bool {
        let is_next = self.left().first().is_some_and(|byte| set.contains(byte));
        self.position += usize::from(is_next);
        is_next
    }

    fn accept_run(&mut self, set: &[u8]) {
        while self.accept(set) {}
    }

    fn accept_alphanumeric(&mut self) {
        while self.peek().is_some_and(is_alphanumeric) {
            self.next();
        }
    }

    fn bad_character(&mut self) -> Token {
        let rune = self.peek().unwrap_or(text::RUNE_ERROR);
        self.fail(format!("bad character {}", code_point(rune)))
    }

    fn identifier(&mut self) -> Token {
        self.accept_alphanumeric();
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        let word = self
            .input
            .get(self.start..self.position)
            .unwrap_or_default();
        let kind = match Kind::keyword(word) {
            Some(Kind::Break) if !self.has_break => Kind::Identifier,
            Some(Kind::Continue) if !self.has_continue => Kind::Identifier,
            Some(keyword) => keyword,
            None if matches!(word, b"true" | b"false") => Kind::Bool,
            None => Kind::Identifier,
        };
        self.emit(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token {
        if self.is_at_terminator() {
            return self.emit(if kind == Kind::Field { Kind::Dot } else { kind });
        }
        self.accept_alphanumeric();
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        self.emit(kind)
    }

    /// Whether what follows may follow a name.
    fn is_at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(rune) => is_space(rune) || self.left().starts_with(&self.delimiters.right),
        }
    }

    fn quoted(&mut self, quote: char, kind: Kind, unterminated: &str) -> Token {
        loop {
            match self.next() {
                Some('\\') if !matches!(self.peek(), None | Some('\n')) => {
                    self.next();
                }
                None | Some('\n' | '\\') => return self.fail(unterminated),
                Some(rune) if rune == quote => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw(&mut self) -> Token {
        match self.left().iter().position(|&byte| byte == b'`') {
            Some(length) => {
                self.position += length + 1;
                self.emit(Kind::RawString)
            }
            None => self.fail("unterminated raw quoted string"),
        }
    }

    fn number(&mut self) -> Token {
        self.position = self.start;
        if !self.scan_number() {
            return self.bad_number();
        }
        if !matches!(self.left().first(), Some(b'+' | b'-')) {
            return self.emit(Kind::Number);
        }
        let is_complex = self.scan_number() && self.input.get(self.position - 1) == Some(&b'i');
        if is_complex {
            self.emit(Kind::Complex)
        } else {
            self.bad_number()
        }
    }

    fn bad_number(&mut self) -> Token {
        let text = self
            .input
            .get(self.start..self.position)
            .unwrap_or_default();
        let text = text::quoted(&String::from_utf8_lossy(text));
        self.fail(format!("bad number syntax: {text}"))
    }

    /// Accepts some words that are no numbers, `0x0.2`: the parser refuses them.
    fn scan_number(&mut self) -> bool {
        const DECIMAL: &[u8] = b"0123456789_";
        const HEX: &[u8] = b"0123456789abcdefABCDEF_";
        self.accept(b"+-");
        let mut digits = DECIMAL;
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = HEX;
            } else if self.accept(b"oO") {
                digits = b"01234567_";
            } else if self.accept(b"bB") {
                digits = b"01_";
            }
        }
        self.accept_run(digits);
        if self.accept(b".") {
            self.accept_run(digits);
        }
        let has_exponent = digits == DECIMAL && self.accept(b"eE");
        if has_exponent || digits == HEX && self.accept(b"pP") {
            self.accept(b"+-");
            self.accept_run(DECIMAL);
        }
        self.accept(b"i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

fn is_alphanumeric(rune: char) -> bool {
    rune == '_' || text::is_letter(rune) || text::is_digit(rune)
}

/// Go's `%#U`.
fn code_point(rune: char) -> String {
    let code = u32::from(rune);
    if text::is_print(rune) {
        format!("U+{code:04X} '{rune}'")
    } else {
        format!("U+{code:04X}")
    }
}
