//! Counts the contents of a JSON text, byte by byte, as the bytes arrive.
//!
//! Not the crate serde_json with a counting visitor: it copies every escaped string and every key,
//! and it needs the whole text at once. Not the crate jiter or simd-json: they make values, or a
//! tape as large as the values.

use super::limits::Limits;

/// Why a text is not read: what is wrong, the limit, and what to do.
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

/// The state of the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// Between two values.
    Between,
    /// In a number, `true`, `false` or `null`.
    Word,
    Text,
    /// After a `\` in a text.
    Escape,
}

/// A scan of one text. The text may arrive in any number of parts, with the same counts.
///
/// It does not check the grammar: `serde_json` does that. Up to the first fault the counts are exact, so they limit
/// what `serde_json` allocates for any bytes.
#[derive(Debug, Clone)]
pub struct Scan {
    limits: Limits,
    place: ScanState,
    bytes: usize,
    depth: usize,
    values: usize,
}

impl Scan {
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            place: ScanState::Between,
            bytes: 0,
            depth: 0,
            values: 0,
        }
    }

    /// How many values the text has had so far.
    pub const fn values(&self) -> usize {
        self.values
    }

    /// Scans the next part of the text. Each byte is read once.
    pub fn take(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        self.bytes = self.bytes.saturating_add(part.len());
        if self.bytes > self.limits.bytes {
            let limit = self.limits.bytes;
            return Err(TooLarge::Bytes { limit });
        }
        let mut rest = part;
        while let [byte, after @ ..] = rest {
            rest = match self.place {
                ScanState::Text => self.through_text(rest),
                ScanState::Escape => {
                    self.place = ScanState::Text;
                    after
                }
                ScanState::Between | ScanState::Word => {
                    self.outside(*byte)?;
                    after
                }
            };
        }
        Ok(())
    }

    /// Skips to the end of a text, or past the next `\`.
    fn through_text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let Some(end) = memchr::memchr2(b'"', b'\\', rest) else {
            return &[];
        };
        self.place = match rest[end] {
            b'\\' => ScanState::Escape,
            _ => ScanState::Between,
        };
        &rest[end + 1..]
    }

    fn outside(&mut self, byte: u8) -> Result<(), TooLarge> {
        match byte {
            b'"' => {
                self.place = ScanState::Text;
                self.one_more()
            }
            b'[' | b'{' => {
                self.place = ScanState::Between;
                self.one_more()?;
                self.deeper()
            }
            b']' | b'}' => {
                self.place = ScanState::Between;
                self.depth = self.depth.saturating_sub(1);
                Ok(())
            }
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                self.place = ScanState::Between;
                Ok(())
            }
            _ if self.place == ScanState::Word => Ok(()),
            _ => {
                self.place = ScanState::Word;
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
