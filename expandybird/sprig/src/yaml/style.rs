//! How a text is written: as it is, in quotes, or as a block of lines.

use super::{Layout, plain};

/// The way to write a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`, with escapes.
    DoubleQuoted,
    /// `|` and lines.
    Literal,
}

/// A text, seen as the emitter sees it.
#[derive(Default)]
struct Traits {
    has_indicators: bool,
    has_specials: bool,
    has_tabs: bool,
    has_breaks: bool,
    starts_with_space: bool,
    starts_with_break: bool,
    ends_with_space: bool,
    ends_with_break: bool,
    has_space_after_break: bool,
    has_space_before_break: bool,
}

impl Style {
    /// The way to write this text, as a value or as a key before a colon.
    pub fn of(text: &str, is_key: bool, layout: Layout) -> Self {
        let traits = Traits::of(text);
        let tabs_in_blocks = layout == Layout::Pretty;
        let wanted = if text.contains('\n') {
            Self::Literal
        } else if plain::is_text(text) {
            Self::Plain
        } else {
            Self::DoubleQuoted
        };
        match wanted {
            _ if is_key && traits.has_breaks => Self::DoubleQuoted,
            Self::Plain if traits.allow_plain() => Self::Plain,
            Self::Plain if traits.allow_single_quotes() => Self::SingleQuoted,
            Self::Literal if traits.allow_block(tabs_in_blocks) && !is_key => Self::Literal,
            _ => Self::DoubleQuoted,
        }
    }
}

impl Traits {
    fn of(text: &str) -> Self {
        let mut traits = Self {
            has_indicators: text.starts_with("---")
                || text.starts_with("...")
                || starts_like_syntax(text),
            ..Self::default()
        };
        let mut previous = None;
        let mut rest = text.chars();
        while let Some(rune) = rest.next() {
            let next = rest.clone().next();
            traits.see(previous, rune, next);
            previous = Some(rune);
        }
        traits
    }

    fn see(&mut self, previous: Option<char>, rune: char, next: Option<char>) {
        let after_blank =
            previous.is_none_or(|rune| is_blank(rune) || is_break(rune) || rune == '\0');
        let before_blank = next.is_none_or(is_blank);
        self.has_indicators |= (rune == ':' && before_blank) || (rune == '#' && after_blank);
        self.has_tabs |= rune == '\t';
        self.has_specials |= !is_printable(rune) && rune != '\t';
        if rune == ' ' {
            self.starts_with_space |= previous.is_none();
            self.ends_with_space |= next.is_none();
            self.has_space_after_break |= previous.is_some_and(is_break);
        }
        if is_break(rune) {
            self.has_breaks = true;
            self.starts_with_break |= previous.is_none();
            self.ends_with_break |= next.is_none();
            self.has_space_before_break |= previous == Some(' ');
        }
    }

    fn allow_plain(&self) -> bool {
        let has_loose_ends = self.starts_with_space
            || self.starts_with_break
            || self.ends_with_space
            || self.ends_with_break;
        !has_loose_ends && !self.has_breaks && !self.has_indicators && self.allow_single_quotes()
    }

    fn allow_single_quotes(&self) -> bool {
        let has_specials = self.has_specials || self.has_tabs;
        !self.has_space_after_break && !self.has_space_before_break && !has_specials
    }

    fn allow_block(&self, tabs: bool) -> bool {
        let has_specials = self.has_specials || self.has_tabs && !tabs;
        !self.ends_with_space && !self.has_space_before_break && !has_specials
    }
}

/// Whether the first character means something to YAML.
fn starts_like_syntax(text: &str) -> bool {
    let mut runes = text.chars();
    let first = runes.next();
    let before_blank = runes.next().is_none_or(is_blank);
    match first {
        Some(rune) if "#,[]{}&*!|>'\"%@`".contains(rune) => true,
        Some('?' | ':' | '-') => before_blank,
        _ => false,
    }
}

fn is_blank(rune: char) -> bool {
    matches!(rune, ' ' | '\t')
}

/// Whether the emitter takes this for the end of a line.
pub fn is_break(rune: char) -> bool {
    matches!(rune, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the emitter writes this as it is. Characters beyond U+FFFF are escaped.
pub fn is_printable(rune: char) -> bool {
    matches!(rune, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}
