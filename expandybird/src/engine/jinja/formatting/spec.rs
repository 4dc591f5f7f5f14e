//! Format specifications: `[[fill]align][sign][#][0][width][grouping][.precision][type]`.

use minijinja::Error;

use super::bounded;
use crate::engine::jinja::values::python::invalid;

/// The parts of a specification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spec {
    pub fill: Option<char>,
    pub align: Option<char>,
    /// `+`, a blank, or `-`.
    pub sign: Option<char>,
    pub alternate: bool,
    pub zero: bool,
    pub width: usize,
    pub grouping: Option<char>,
    pub precision: Option<usize>,
    pub kind: Option<char>,
}

impl Spec {
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut spec = Self::default();
        let mut rest = Rest(text);
        let mut characters = text.chars();
        let is_align = |c: Option<char>| c.is_some_and(|c| "<>=^".contains(c));
        let (first, second) = (characters.next(), characters.next());
        if is_align(second) {
            (spec.fill, spec.align) = (first, second);
            rest.0 = characters.as_str();
        } else if is_align(first) {
            spec.align = rest.one("<>=^");
        }
        spec.sign = rest.one("+- ");
        spec.alternate = rest.one("#").is_some();
        spec.zero = rest.one("0").is_some();
        spec.width = rest.number()?.unwrap_or(0);
        spec.grouping = rest.one(",_");
        if rest.one(".").is_some() {
            let precision = rest.number()?;
            spec.precision =
                Some(precision.ok_or_else(|| invalid("Format specifier missing precision"))?);
        }
        spec.kind = rest.0.chars().next();
        match rest.0.chars().count() {
            0 | 1 => Ok(spec),
            _ => Err(invalid(format!("Invalid format specifier '{text}'"))),
        }
    }

    /// Pads the text to the width. With `=`, the sign of a number comes before the fill.
    pub fn padded(&self, sign: &str, text: &str, align: char) -> String {
        let fill = self.fill.unwrap_or(if self.zero { '0' } else { ' ' });
        let length = sign.chars().count() + text.chars().count();
        let missing = self.width.saturating_sub(length);
        let pad = |count: usize| fill.to_string().repeat(count);
        match self.align.unwrap_or(align) {
            '<' => format!("{sign}{text}{}", pad(missing)),
            '^' => format!(
                "{}{sign}{text}{}",
                pad(missing / 2),
                pad(missing - missing / 2)
            ),
            '=' => format!("{sign}{}{text}", pad(missing)),
            _ => format!("{}{sign}{text}", pad(missing)),
        }
    }
}

struct Rest<'t>(&'t str);

impl Rest<'_> {
    fn one(&mut self, of: &str) -> Option<char> {
        let first = self.0.chars().next().filter(|c| of.contains(*c))?;
        self.0 = &self.0[first.len_utf8()..];
        Some(first)
    }

    fn number(&mut self) -> Result<Option<usize>, Error> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        match digits {
            "" => Ok(None),
            digits => bounded(digits.parse().unwrap_or(usize::MAX)).map(Some),
        }
    }
}
