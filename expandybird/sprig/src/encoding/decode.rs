//! Decoding of base 64 and base 32 by Go's rules, with Go's position of the first wrong byte.
//!
//! By hand: the crate `data-encoding` refuses bits that are left over, and finds other positions.

/// Base 64 with padding. Line ends do not count. The error is a position in bytes.
pub fn base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = Group::default();
    let mut bytes = text
        .iter()
        .enumerate()
        .filter(|(_, byte)| !is_line_end(**byte));
    while let Some((position, byte)) = bytes.next() {
        if let Some(bits) = base64_bits(*byte) {
            group.push(bits, 6);
            if group.count == 4 {
                group.finish(24, &mut out);
            }
            continue;
        }
        match (*byte, group.count) {
            (b'=', 2) => match bytes.next() {
                Some((_, b'=')) => {}
                Some((second, _)) => return Err(second),
                None => return Err(text.len()),
            },
            (b'=', 3) => {}
            _ => return Err(position),
        }
        group.finish(24, &mut out);
        return match bytes.next() {
            Some((position, _)) => Err(position),
            None => Ok(out),
        };
    }
    if group.count > 0 {
        return Err(text.len() - group.count);
    }
    Ok(out)
}

/// Base 32 with padding. Line ends do not count, not even in the position of the error.
pub fn base32(text: &[u8]) -> Result<Vec<u8>, usize> {
    let text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !is_line_end(*byte))
        .collect();
    let mut out = Vec::with_capacity(text.len() / 8 * 5);
    let mut group = Group::default();
    for (position, byte) in text.iter().enumerate() {
        let rest = text.get(position + 1..).unwrap_or_default();
        if *byte == b'=' && group.count >= 2 && rest.len() < 8 {
            check_padding(text.len(), position, rest, group.count)?;
            group.finish(40, &mut out);
            return Ok(out);
        }
        group.push(base32_bits(*byte).ok_or(position)?, 5);
        if group.count == 8 {
            group.finish(40, &mut out);
        }
    }
    if group.count > 0 {
        return Err(text.len() - group.count);
    }
    Ok(out)
}

/// Holds what follows the first `=` to the rules: enough of them, nothing else, after a whole number of bytes.
fn check_padding(length: usize, position: usize, rest: &[u8], count: usize) -> Result<(), usize> {
    let wanted = 7 - count;
    if rest.len() < wanted {
        return Err(length);
    }
    if let Some(wrong) = rest.iter().take(wanted).position(|byte| *byte != b'=') {
        return Err(position + wrong);
    }
    if matches!(count, 1 | 3 | 6) {
        return Err(position);
    }
    Ok(())
}

/// Bits that are not yet whole bytes.
#[derive(Default)]
struct Group {
    bits: u64,
    width: u32,
    count: usize,
}

impl Group {
    fn push(&mut self, bits: u8, width: u32) {
        self.bits = self.bits << width | u64::from(bits);
        self.width += width;
        self.count += 1;
    }

    /// Writes the whole bytes of the group, which has `full` bits where it is complete.
    fn finish(&mut self, full: u32, out: &mut Vec<u8>) {
        let aligned = self.bits << (full - self.width);
        let bytes = aligned.to_be_bytes();
        let first = (64 - full) as usize / 8;
        let whole = self.width as usize / 8;
        out.extend_from_slice(bytes.get(first..first + whole).unwrap_or_default());
        *self = Self::default();
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn base64_bits(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

fn base32_bits(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'2'..=b'7' => byte - b'2' + 26,
        _ => return None,
    })
}
