//! From Go's syntax of regular expressions to that of the crate `regex`, and Go's texts for mistakes.

use std::fmt;

/// The largest count of a repetition.
const MAX_REPEAT: u32 = 1000;

/// What is wrong with an expression, in Go's words.
#[derive(Debug)]
pub struct SyntaxError {
    code: &'static str,
    expression: String,
}

impl SyntaxError {
    /// An error of this kind at this part of the expression.
    pub fn new(code: &'static str, expression: impl Into<String>) -> Self {
        let expression = expression.into();
        Self { code, expression }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, expression } = self;
        write!(f, "error parsing regexp: {code}: `{expression}`")
    }
}

/// The expression in the syntax of the crate `regex`.
pub fn translate(pattern: &str) -> Result<String, SyntaxError> {
    let mut translation = Translation {
        rest: pattern,
        out: String::with_capacity(pattern.len() + 8),
    };
    translation.run()?;
    Ok(translation.out)
}

/// Why the crate refused the translated expression.
pub fn explain(pattern: &str, translated: &str) -> SyntaxError {
    use regex_syntax::ast::{ErrorKind as Kind, parse::Parser};
    let Err(error) = Parser::new().parse(translated) else {
        return match regex_syntax::parse(translated) {
            Err(regex_syntax::Error::Translate(_)) => {
                SyntaxError::new("invalid character class range", pattern)
            }
            _ => SyntaxError::new("expression too large", ""),
        };
    };
    let span = error.span();
    let part = translated
        .get(span.start.offset..span.end.offset)
        .unwrap_or_default();
    match error.kind() {
        Kind::GroupUnclosed => SyntaxError::new("missing closing )", pattern),
        Kind::GroupUnopened => SyntaxError::new("unexpected )", pattern),
        Kind::ClassUnclosed => SyntaxError::new(
            "missing closing ]",
            translated.get(span.start.offset..).unwrap_or_default(),
        ),
        Kind::ClassRangeInvalid => SyntaxError::new("invalid character class range", part),
        Kind::RepetitionMissing => {
            let operator = translated.get(span.start.offset..).unwrap_or_default();
            SyntaxError::new(
                "missing argument to repetition operator",
                operator.chars().take(1).collect::<String>(),
            )
        }
        Kind::EscapeUnexpectedEof => {
            SyntaxError::new("trailing backslash at end of expression", "")
        }
        Kind::EscapeUnrecognized | Kind::UnsupportedBackreference => {
            SyntaxError::new("invalid escape sequence", part)
        }
        Kind::UnsupportedLookAround | Kind::FlagUnrecognized => {
            SyntaxError::new("invalid or unsupported Perl syntax", part)
        }
        Kind::GroupNameInvalid
        | Kind::GroupNameEmpty
        | Kind::GroupNameUnexpectedEof
        | Kind::GroupNameDuplicate { .. } => SyntaxError::new("invalid named capture", part),
        _ => SyntaxError::new("invalid or unsupported Perl syntax", part),
    }
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Translation<'a> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        // Where the operators of a repetition started that the previous character belongs to.
        let mut repetition: Option<&'a str> = None;
        while let Some(rune) = self.rest.chars().next() {
            let here = self.rest;
            let repeats = match rune {
                '*' | '+' | '?' => self.copy(1),
                '{' => self.counted_repetition()?,
                '\\' => self.escape()?,
                '[' => self.class()?,
                _ => {
                    self.copy(rune.len_utf8());
                    false
                }
            };
            if !repeats {
                repetition = None;
                continue;
            }
            if self.rest.starts_with('?') {
                self.copy(1);
            }
            if let Some(start) = repetition {
                let operators = start.get(..start.len() - self.rest.len()).unwrap_or(start);
                return Err(SyntaxError::new(
                    "invalid nested repetition operator",
                    operators,
                ));
            }
            repetition = Some(here);
        }
        Ok(())
    }

    /// Copies so many bytes of the expression. Always true: what was copied counts as a repetition.
    fn copy(&mut self, bytes: usize) -> bool {
        let (copied, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.out.push_str(copied);
        self.rest = rest;
        true
    }

    fn replace(&mut self, bytes: usize, text: &str) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.out.push_str(text);
    }

    /// `{2}`, `{2,}`, `{2,3}`. Any other brace is text.
    fn counted_repetition(&mut self) -> Result<bool, SyntaxError> {
        let inside = self.rest.find('}').and_then(|end| self.rest.get(1..end));
        let counts = inside.filter(|inside| is_count(inside));
        let Some(counts) = counts else {
            self.replace(1, r"\{");
            return Ok(false);
        };
        let numbers: Vec<u32> = counts
            .split(',')
            .filter(|count| !count.is_empty())
            .map(|count| count.parse().unwrap_or(u32::MAX))
            .collect();
        let is_ordered = numbers.windows(2).all(|pair| pair.first() <= pair.last());
        if numbers.iter().any(|count| *count > MAX_REPEAT) || !is_ordered {
            return Err(SyntaxError::new(
                "invalid repeat count",
                format!("{{{counts}}}"),
            ));
        }
        Ok(self.copy(counts.len() + 2))
    }

    /// A backslash outside a class. Never a repetition.
    fn escape(&mut self) -> Result<bool, SyntaxError> {
        let Some(rune) = self.rest.chars().nth(1) else {
            return Err(SyntaxError::new(
                "trailing backslash at end of expression",
                "",
            ));
        };
        match rune {
            'Q' => {
                let quoted = self.rest.get(2..).unwrap_or_default();
                let end = quoted.find(r"\E").unwrap_or(quoted.len());
                let literal = regex_syntax::escape(quoted.get(..end).unwrap_or_default());
                self.replace((2 + end + 2).min(self.rest.len()), &literal);
            }
            'b' => self.replace(2, r"(?-u:\b)"),
            'B' => self.replace(2, r"(?-u:\B)"),
            _ => match ascii_class(rune) {
                Some((class, false)) => self.replace(2, &format!("[{class}]")),
                Some((class, true)) => self.replace(2, &format!("[^{class}]")),
                None => self.copy_escape(rune)?,
            },
        }
        Ok(false)
    }

    /// An escape that both syntaxes have, or one that Go refuses.
    fn copy_escape(&mut self, rune: char) -> Result<(), SyntaxError> {
        let known = rune.is_ascii_punctuation() || "aftnrvxpPAz0123456789".contains(rune);
        let digits = self.rest.get(1..).unwrap_or_default();
        let backreference = matches!(rune, '1'..='9')
            && !(matches!(rune, '1'..='7')
                && digits
                    .as_bytes()
                    .get(1)
                    .is_some_and(|next| matches!(next, b'0'..=b'7')));
        if !known || backreference {
            return Err(SyntaxError::new(
                "invalid escape sequence",
                format!("\\{rune}"),
            ));
        }
        self.copy(1 + rune.len_utf8());
        Ok(())
    }

    /// A class in brackets. Never a repetition.
    fn class(&mut self) -> Result<bool, SyntaxError> {
        let whole = self.rest;
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        let mut is_first = true;
        loop {
            let Some(rune) = self.rest.chars().next() else {
                return Err(SyntaxError::new("missing closing ]", whole));
            };
            match rune {
                ']' if is_first => self.replace(1, r"\]"),
                ']' => {
                    self.copy(1);
                    return Ok(false);
                }
                '[' => self.posix_class_or_bracket(),
                '\\' => self.class_escape()?,
                '&' | '~' => self.replace(1, &format!("\\{rune}")),
                _ => {
                    self.copy(rune.len_utf8());
                }
            }
            is_first = false;
        }
    }

    /// `[:alpha:]` within a class; otherwise a bracket is text there.
    fn posix_class_or_bracket(&mut self) {
        let end = self
            .rest
            .starts_with("[:")
            .then(|| self.rest.find(":]"))
            .flatten();
        match end {
            Some(end) => {
                self.copy(end + 2);
            }
            None => self.replace(1, r"\["),
        }
    }

    fn class_escape(&mut self) -> Result<(), SyntaxError> {
        let Some(rune) = self.rest.chars().nth(1) else {
            return Err(SyntaxError::new(
                "trailing backslash at end of expression",
                "",
            ));
        };
        match ascii_class(rune) {
            Some((class, false)) => self.replace(2, class),
            Some((class, true)) => self.replace(2, &format!("[^{class}]")),
            None => self.copy_escape(rune)?,
        }
        Ok(())
    }
}

/// What may stand between the braces of a repetition.
fn is_count(inside: &str) -> bool {
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

/// Perl's classes, which are ASCII in Go; whether the letter means all other characters.
fn ascii_class(letter: char) -> Option<(&'static str, bool)> {
    let class = match letter.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => r"\t\n\x0C\r ",
        _ => return None,
    };
    Some((class, letter.is_ascii_uppercase()))
}
