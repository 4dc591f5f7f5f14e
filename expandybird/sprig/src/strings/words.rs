//! Words of identifiers, for `camelcase`, `snakecase` and `kebabcase`: the rules of the Go package `xstrings`.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::{RUNE_ERROR, is_letter, is_space, runes};
use expandybird_gotemplate::value::{Call, Value};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::cases::{lower, upper};

/// What stands between two words, and goes away.
fn is_connector(rune: char) -> bool {
    matches!(rune, '-' | '_') || is_space(rune)
}

/// Letters of scripts that write words without case, as Chinese does, do not count.
fn is_alphabetic(rune: char) -> bool {
    is_letter(rune)
        && !matches!(rune, '\u{4e00}'..='\u{9fbf}' | '\u{20000}'..='\u{2a6df}' | '\u{3400}'..='\u{4dbf}')
}

fn is_punctuation(rune: char) -> bool {
    use GeneralCategory as C;
    matches!(
        get_general_category(rune),
        C::ConnectorPunctuation
            | C::DashPunctuation
            | C::ClosePunctuation
            | C::FinalPunctuation
            | C::InitialPunctuation
            | C::OtherPunctuation
            | C::OpenPunctuation
    )
}

/// Words joined, each with a capital: `http_server` becomes `HttpServer`. Connectors at the start stay.
pub fn pascal_case(text: &[char]) -> String {
    let start = text
        .iter()
        .position(|rune| !is_connector(*rune))
        .unwrap_or(text.len());
    let (leading, words) = text.split_at(start);
    let mut out: String = leading.iter().collect();
    let Some((&first, rest)) = words.split_first() else {
        // The original writes the last connector twice.
        out.extend(leading.last());
        return out;
    };
    let mut in_capitals = first.is_uppercase();
    let mut previous = upper(first);
    for &rune in rest {
        let mut next = rune;
        match (is_connector(previous), is_connector(rune)) {
            (true, true) => out.push(previous),
            (true, false) => {
                in_capitals = rune.is_uppercase();
                next = upper(rune);
            }
            (false, _) => {
                in_capitals &= rune.is_uppercase();
                if in_capitals {
                    next = lower(rune);
                }
                out.push(previous);
            }
        }
        previous = next;
    }
    out.push(previous);
    out
}

/// What a word is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Nothing readable.
    Invalid,
    Number,
    /// Starts with a capital: `HTTP`, `Server`.
    Capital,
    /// Letters without a capital at the start.
    Letters,
    Connector,
    Punctuation,
    Other,
}

impl Sort {
    fn of(rune: char) -> Self {
        match rune {
            RUNE_ERROR => Self::Invalid,
            _ if is_connector(rune) => Self::Connector,
            _ if is_punctuation(rune) => Self::Punctuation,
            _ if rune.is_uppercase() => Self::Capital,
            _ if is_alphabetic(rune) => Self::Letters,
            _ if rune.is_numeric() => Self::Number,
            _ => Self::Other,
        }
    }

    /// Whether a connector comes before a word of this sort.
    fn is_joined(self) -> bool {
        !matches!(self, Self::Connector | Self::Punctuation)
    }
}

/// The words of a text, one after the other.
struct Words<'a> {
    rest: &'a [char],
    sort: Sort,
    word: &'a [char],
}

impl<'a> Words<'a> {
    fn new(text: &'a [char]) -> Self {
        let mut words = Self {
            rest: text,
            sort: Sort::Invalid,
            word: &[],
        };
        words.advance();
        words
    }

    /// Goes to the next word; to an empty one after the last.
    fn advance(&mut self) {
        let Some(&first) = self.rest.first() else {
            (self.sort, self.word) = (Sort::Invalid, &[]);
            return;
        };
        self.sort = Sort::of(first);
        let length = match self.sort {
            Sort::Invalid => 1,
            Sort::Capital => self.capital_word(),
            Sort::Letters => self.run(1, |rune| is_alphabetic(rune) && !rune.is_uppercase()),
            Sort::Connector => self.run(1, is_connector),
            Sort::Punctuation => self.run(1, is_punctuation),
            Sort::Number => self.run(1, char::is_numeric),
            Sort::Other => self.run(1, |rune| {
                matches!(Sort::of(rune), Sort::Other | Sort::Invalid)
            }),
        };
        (self.word, self.rest) = self.rest.split_at(length.min(self.rest.len()));
    }

    /// The length of the run from `start` that `goes_on` holds for. Characters that are not UTF-8 belong to it.
    fn run(&self, start: usize, goes_on: impl Fn(char) -> bool) -> usize {
        let rest = self.rest.get(start..).unwrap_or_default();
        let ends = |rune: &char| *rune != RUNE_ERROR && !goes_on(*rune);
        start + rest.iter().position(ends).unwrap_or(rest.len())
    }

    /// `HTTP` of `HTTPServer`: the last capital belongs to the next word if letters follow it.
    fn capital_word(&self) -> usize {
        let capitals = self.run(1, char::is_uppercase);
        let followed_by_letters = self
            .rest
            .get(capitals)
            .is_some_and(|rune| is_alphabetic(*rune));
        match (capitals, followed_by_letters) {
            (1, true) => self.run(1, |rune| is_alphabetic(rune) && !rune.is_uppercase()),
            (_, true) => capitals - 1,
            (_, false) => capitals,
        }
    }
}

/// Words in lower case with connectors between them: `HTTPServer` becomes `http_server`.
pub fn joined_words(call: &mut Call<'_>, connector: char) -> Result<Value, Failure> {
    let text: Vec<char> = runes(call.string(0)?).collect();
    call.budget().spend_string(text.len().saturating_mul(2))?;
    let mut out = Joined {
        words: Words::new(&text),
        text: String::new(),
        connector,
    };
    while !out.words.rest.is_empty() {
        out.take_word();
    }
    out.write(out.words.sort, out.words.word);
    Ok(out.text.into())
}

struct Joined<'a> {
    words: Words<'a>,
    text: String,
    connector: char,
}

impl<'a> Joined<'a> {
    /// Writes the present word, with what belongs to it, and goes to the next.
    fn take_word(&mut self) {
        let (sort, word) = (self.words.sort, self.words.word);
        if sort != Sort::Connector {
            self.write(sort, word);
        }
        self.words.advance();
        match sort {
            Sort::Number => self.finish_number(),
            Sort::Connector => self.write(sort, word),
            Sort::Punctuation => {}
            _ if self.words.sort == Sort::Number => self.number_after_word(),
            _ => self.connect(),
        }
    }

    /// Letters without a capital after a number are a part of it: `2xx`.
    fn finish_number(&mut self) {
        while matches!(self.words.sort, Sort::Letters | Sort::Number) {
            self.write(self.words.sort, self.words.word);
            self.words.advance();
        }
        if self.words.sort != Sort::Invalid {
            self.connect();
        }
    }

    /// A number belongs to the word before it, `bld4`, unless letters follow it: `http_2xx`.
    fn number_after_word(&mut self) {
        if self.words.rest.is_empty() {
            return;
        }
        let number = self.words.word;
        self.words.advance();
        if self.words.sort == Sort::Letters {
            self.text.push(self.connector);
            self.write(Sort::Number, number);
            self.finish_number();
        } else {
            self.write(Sort::Number, number);
            self.connect();
        }
    }

    fn connect(&mut self) {
        if self.words.sort.is_joined() {
            self.text.push(self.connector);
        }
    }

    fn write(&mut self, sort: Sort, word: &[char]) {
        let connector = self.connector;
        self.text.extend(word.iter().map(|rune| match sort {
            Sort::Connector => connector,
            Sort::Capital => lower(*rune),
            _ => *rune,
        }));
    }
}
