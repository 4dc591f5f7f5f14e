//! Strings by verbs.

use super::printer::Printer;
use crate::text;

impl Printer<'_> {
    /// `%s`, `%q`, `%x` or `%X`.
    pub fn string(&mut self, bytes: &[u8], verb: char) {
        match verb {
            'x' => self.hex(bytes, *b"0123456789abcdef", b'x'),
            'X' => self.hex(bytes, *b"0123456789ABCDEF", b'X'),
            'q' => self.quote(bytes),
            _ => self.pad(self.cut(bytes)),
        }
    }

    /// Cut to the precision, in characters.
    fn cut<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        match self.flags.precision {
            Some(precision) if precision < bytes.len() => text::truncated(bytes, precision),
            _ => bytes,
        }
    }

    fn quote(&mut self, bytes: &[u8]) {
        let bytes = self.cut(bytes);
        let mut quoted = Vec::with_capacity(bytes.len() + 2);
        if self.flags.sharp && text::can_backquote(bytes) {
            quoted.push(b'`');
            quoted.extend(bytes);
            quoted.push(b'`');
        } else {
            text::write_quoted(&mut quoted, bytes, self.flags.plus);
        }
        self.pad(&quoted);
    }

    fn hex(&mut self, bytes: &[u8], digits: [u8; 16], x: u8) {
        let length = self.flags.precision.unwrap_or(bytes.len()).min(bytes.len());
        let bytes = bytes.get(..length).unwrap_or_default();
        let (is_spaced, is_prefixed) = (self.flags.space, self.flags.sharp);
        let mut hex = Vec::with_capacity(2 * bytes.len() + 2);
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 && is_spaced {
                hex.push(b' ');
            }
            if is_prefixed && (index == 0 || is_spaced) {
                hex.extend([b'0', x]);
            }
            let [high, low] = [byte >> 4, byte & 15].map(usize::from);
            hex.extend([digits[high], digits[low]]);
        }
        self.pad_around(hex.len(), |printer| printer.write(&hex));
    }
}
