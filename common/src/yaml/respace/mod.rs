//! Adds spaces that YAML 1.2 requires and PyYAML does not, and joins characters that JSON writes as two escapes.
//!
//! People write `[` at the end of a line and its `]` below the key, or continue a quoted text at the start of a line.
//! PyYAML ignores indentation there, the parser requires it. The parser also requires a blank before a comment after a
//! bracket or a quote, and behind a `?` at the end of a text. JSON writes a character beyond 16 bits as two escapes
//! (`"\ud83d\ude00"`, RFC 8259 §7), which the parser rejects: here they become one. Responsible for these edits, and
//! for mapping locations in the new text to the old one.
//!
//! It sees a text only after the parser has rejected it, so a wrong guess changes nothing: the text stays rejected. It
//! knows enough YAML to find the brackets and quotes that have a meaning: where plain and block texts begin and end,
//! and the indentation of the enclosing block.

use super::error::Location;

/// A text with added spaces.
pub(super) struct Respaced {
    pub text: String,
    edits: Vec<Edit>,
}

struct Edit {
    /// The byte offset in the old text, from 0.
    at: usize,
    /// How many bytes are removed. Each is one character.
    removed: usize,
    put_in: String,
    /// The location in the old text.
    location: Location,
}

impl Respaced {
    /// Maps a location in the new text to the old one.
    pub fn original(&self, location: Location) -> Location {
        let first = self
            .edits
            .partition_point(|edit| edit.location.line < location.line);
        let in_line = self.edits[first..]
            .iter()
            .take_while(|edit| edit.location.line == location.line);
        let column = in_line.fold(location.column, |column, edit| {
            match column > edit.location.column {
                true => (column + edit.removed)
                    .saturating_sub(edit.put_in.len())
                    .max(edit.location.column),
                false => column,
            }
        });
        Location { column, ..location }
    }
}

/// Adds the missing spaces. `None` if none are missing.
pub(super) fn respace(text: &str) -> Option<Respaced> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        line_start: 0,
        line: 1,
        block_column: None,
        edits: Vec::new(),
    };
    scanner.document()?;
    let edits = scanner.edits;
    if edits.is_empty() {
        return None;
    }
    let mut respaced = String::with_capacity(text.len() + edits.len() * 8);
    let mut from = 0;
    for edit in &edits {
        respaced.push_str(text.get(from..edit.at)?);
        respaced.push_str(&edit.put_in);
        from = edit.at + edit.removed;
    }
    respaced.push_str(text.get(from..)?);
    Some(Respaced {
        text: respaced,
        edits,
    })
}

/// Characters of `\uXXXX`.
const HALF: usize = 6;

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    line_start: usize,
    line: usize,
    /// The column of the innermost block list or map.
    block_column: Option<usize>,
    edits: Vec<Edit>,
}

impl Scanner<'_> {
    /// The content of a block. `None`: PyYAML cannot read it either.
    fn document(&mut self) -> Option<()> {
        while let Some(byte) = self.peek(0) {
            let column = self.column();
            match byte {
                b'\n' => self.newline(),
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.skip_line(),
                b'%' if column == 0 => self.skip_line(),
                b'-' | b'.' if self.at_marker() => {
                    self.block_column = None;
                    self.at += 3;
                }
                b'-' | b'?' | b':' if self.is_blank(1) => {
                    self.block_column = Some(column);
                    self.at += 1;
                    self.end_key(byte);
                }
                b'&' | b'*' | b'!' => self.skip_word(),
                b'|' | b'>' => self.block_text(),
                b'"' | b'\'' => {
                    self.quoted(byte)?;
                    self.key(column);
                }
                b'[' | b'{' => {
                    self.flow()?;
                    self.key(column);
                }
                _ => self.plain(column),
            }
        }
        Some(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Whether white space or the end follows.
    fn is_blank(&self, ahead: usize) -> bool {
        self.peek(ahead)
            .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    fn column(&self) -> usize {
        self.at - self.line_start
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn skip_word(&mut self) {
        while !self.is_blank(0) {
            self.at += 1;
        }
    }

    /// `---` or `...` at the start of a line.
    fn at_marker(&self) -> bool {
        let rest = &self.bytes[self.at..];
        self.column() == 0
            && (rest.starts_with(b"---") || rest.starts_with(b"..."))
            && self.is_blank(3)
    }

    /// The `:` after a key that began at `column`.
    fn key(&mut self, column: usize) {
        let from = self.at;
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.peek(0) == Some(b':') && self.is_blank(1) {
            self.block_column = Some(column);
            self.at += 1;
        } else {
            self.at = from;
        }
    }

    /// A plain text with its continuation lines, or a key.
    fn plain(&mut self, column: usize) {
        loop {
            while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\n') {
                if byte == b':' && self.is_blank(1) {
                    return self.key(column);
                }
                if byte == b'#' && self.follows_blank() {
                    return self.skip_line();
                }
                self.at += 1;
            }
            let Some(indent) = self.next_indent() else {
                return;
            };
            let goes_on = self.block_column.is_none_or(|block| indent > block);
            self.newline();
            self.at += indent.min(self.bytes.len() - self.at);
            if !goes_on || matches!(self.peek(0), Some(b'#')) || self.at_marker() {
                return;
            }
        }
    }

    fn follows_blank(&self) -> bool {
        self.at == self.line_start || matches!(self.bytes[self.at - 1], b' ' | b'\t')
    }

    /// The indentation of the line after this line break. Blank lines do not count.
    fn next_indent(&self) -> Option<usize> {
        let line = self.bytes.get(self.at + 1..)?;
        Some(line.iter().take_while(|byte| **byte == b' ').count())
    }

    /// A text after `|` or `>`: all lines that are deeper than the enclosing block.
    fn block_text(&mut self) {
        let least = self.block_column.map_or(1, |column| column + 1);
        let header = self.bytes[self.at..]
            .iter()
            .take_while(|b| !b.is_ascii_whitespace());
        let given = header.into_iter().find(|byte| byte.is_ascii_digit());
        let mut indent = given.map(|digit| least - 1 + usize::from(digit - b'0'));
        self.skip_line();
        while self.peek(0).is_some() {
            let Some(column) = self.next_indent() else {
                break;
            };
            let is_blank = matches!(
                self.bytes.get(self.at + 1 + column),
                None | Some(b'\n' | b'\r')
            );
            if !is_blank && column < *indent.get_or_insert(column.max(least)) {
                break;
            }
            self.newline();
            self.skip_line();
        }
    }

    /// Brackets and everything between them.
    fn flow(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek(0)? {
                b'\n' => self.continued()?,
                b' ' | b'\t' | b'\r' | b',' => self.at += 1,
                // Between brackets PyYAML does not require a blank after it.
                b':' => {
                    self.at += 1;
                    if !self.is_blank(0) {
                        self.put_in(1);
                    }
                }
                b'#' if self.follows_blank() => self.skip_line(),
                // An empty key: to PyYAML both are indicators here.
                b'?' if self.peek(1) == Some(b':') => {
                    self.at += 1;
                    self.put_in(1);
                }
                quote @ (b'"' | b'\'') => self.quoted(quote)?,
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                    self.separate_comment();
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => self.flow_plain()?,
            }
        }
    }

    /// A plain text between brackets, with the lines that go on with it; or an indicator.
    fn flow_plain(&mut self) -> Option<()> {
        let is_text = !matches!(self.peek(0), Some(b'&' | b'*' | b'!' | b'?'));
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            if byte == b'\n' && is_text {
                self.continued()?;
                continue;
            }
            let ends = matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'\n')
                || byte == b':'
                    && (self.is_blank(1)
                        || matches!(self.peek(1), Some(b',' | b'[' | b']' | b'{' | b'}')))
                || byte == b' ' && matches!(self.bytes[self.at - 1], b':' | b'?')
                || byte == b'#' && self.follows_blank();
            if ends {
                break;
            }
            self.at += 1;
        }
        Some(())
    }

    fn quoted(&mut self, quote: u8) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek(0)? {
                b'\n' => self.continued()?,
                b'\\' if quote == b'"' && self.peek(1) != Some(b'\n') => self.escape(),
                byte if byte == quote => {
                    self.at += 1;
                    if quote == b'\'' && self.peek(0) == Some(quote) {
                        self.at += 1;
                        continue;
                    }
                    self.separate_comment();
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    /// An escape. Two escapes that are the halves of one character become one.
    fn escape(&mut self) {
        let halves = [self.half(0), self.half(HALF)].map(|half| half.unwrap_or(0));
        let mut characters = char::decode_utf16(halves);
        match (halves[0], characters.next()) {
            (0xd800..=0xdbff, Some(Ok(character))) => {
                let put_in = format!("\\U{:08X}", u32::from(character));
                self.edit(2 * HALF, put_in);
                self.at += 2 * HALF;
            }
            _ => self.at += 2,
        }
    }

    /// The number of `\uXXXX`.
    fn half(&self, ahead: usize) -> Option<u16> {
        let start = self.at + ahead;
        let escape = self.bytes.get(start..start + HALF)?;
        let digits = std::str::from_utf8(escape).ok()?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    }

    /// A line within brackets or quotes must be deeper than the enclosing block.
    fn continued(&mut self) -> Option<()> {
        let indent = self.next_indent()?;
        self.newline();
        if self.at_marker() {
            return None;
        }
        let least = self.block_column.map_or(0, |column| column + 1);
        let is_blank = matches!(self.peek(indent), None | Some(b'\n' | b'\r'));
        if !is_blank && indent < least {
            self.put_in(least - indent);
        }
        self.at += indent;
        Some(())
    }

    /// A `?` at the very end of a text needs a blank behind it.
    fn end_key(&mut self, indicator: u8) {
        if indicator == b'?' && self.peek(0).is_none() {
            self.put_in(1);
        }
    }

    fn separate_comment(&mut self) {
        if self.peek(0) == Some(b'#') {
            self.put_in(1);
            self.skip_line();
        }
    }

    fn put_in(&mut self, spaces: usize) {
        self.edit(0, " ".repeat(spaces));
    }

    fn edit(&mut self, removed: usize, put_in: String) {
        let before = String::from_utf8_lossy(&self.bytes[self.line_start..self.at]);
        let location = Location {
            line: self.line,
            column: before.chars().count() + 1,
        };
        self.edits.push(Edit {
            at: self.at,
            removed,
            put_in,
            location,
        });
    }
}

#[cfg(test)]
mod tests;
