//! Counts what a JSON text holds, byte by byte, as the bytes come.
//!
//! Not the crate serde_json with a counting visitor: it copies every escaped string and every key,
//! and it needs the whole text at once. Not the crate jiter or simd-json: they make values, or a
//! tape as large as the values.

use super::limits::Limits;

/// Why a text is not read. Each says what, the limit, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("it has more than {} MiB; split it, or leave out what nobody needs", .limit / (1024 * 1024))]
    Bytes { limit: usize },
    #[error(
        "lists and objects are nested deeper than {limit} levels; nest them less, or give the inner part as text"
    )]
    Depth { limit: usize },
    #[error(
        "it holds more than {limit} values (strings, numbers, lists, objects and names of fields); split it, or give long lists as text"
    )]
    Values { limit: usize },
}

/// Where in the text the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between two values.
    Between,
    /// In a number, `true`, `false` or `null`.
    Word,
    Text,
    /// Behind a `\` of a text.
    Escape,
}

/// A scan of one text. A text may come in any number of parts; the counts are the same.
///
/// It does not check the grammar: `serde_json` does that. Up to the first fault the counts are
/// exact, so they bound what `serde_json` allocates for any bytes.
#[derive(Debug, Clone)]
pub struct Scan {
    limits: Limits,
    place: Place,
    bytes: usize,
    depth: usize,
    values: usize,
}

impl Scan {
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            place: Place::Between,
            bytes: 0,
            depth: 0,
            values: 0,
        }
    }

    /// How many values the text has had so far.
    pub const fn values(&self) -> usize {
        self.values
    }

    /// Takes the next part of the text. Each byte is looked at once.
    pub fn take(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        self.bytes = self.bytes.saturating_add(part.len());
        if self.bytes > self.limits.bytes {
            let limit = self.limits.bytes;
            return Err(TooLarge::Bytes { limit });
        }
        let mut rest = part;
        while let [byte, after @ ..] = rest {
            rest = match self.place {
                Place::Text => self.through_text(rest),
                Place::Escape => {
                    self.place = Place::Text;
                    after
                }
                Place::Between | Place::Word => {
                    self.outside(*byte)?;
                    after
                }
            };
        }
        Ok(())
    }

    /// Goes to the end of a text, or behind the next `\`.
    fn through_text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let Some(end) = memchr::memchr2(b'"', b'\\', rest) else {
            return &[];
        };
        self.place = match rest[end] {
            b'\\' => Place::Escape,
            _ => Place::Between,
        };
        &rest[end + 1..]
    }

    fn outside(&mut self, byte: u8) -> Result<(), TooLarge> {
        match byte {
            b'"' => {
                self.place = Place::Text;
                self.one_more()
            }
            b'[' | b'{' => {
                self.place = Place::Between;
                self.one_more()?;
                self.deeper()
            }
            b']' | b'}' => {
                self.place = Place::Between;
                self.depth = self.depth.saturating_sub(1);
                Ok(())
            }
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                self.place = Place::Between;
                Ok(())
            }
            _ if self.place == Place::Word => Ok(()),
            _ => {
                self.place = Place::Word;
                self.one_more()
            }
        }
    }

    fn one_more(&mut self) -> Result<(), TooLarge> {
        self.values += 1;
        let limit = self.limits.values;
        match self.values > limit {
            true => Err(TooLarge::Values { limit }),
            false => Ok(()),
        }
    }

    fn deeper(&mut self) -> Result<(), TooLarge> {
        self.depth += 1;
        let limit = self.limits.depth;
        match self.depth > limit {
            true => Err(TooLarge::Depth { limit }),
            false => Ok(()),
        }
    }
}
