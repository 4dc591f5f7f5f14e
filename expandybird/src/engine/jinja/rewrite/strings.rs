//! Escapes in a text that minijinja does not know, or reads differently from Python.

/// A literal in the form for minijinja. `None` if it is not a text, or needs no change.
pub fn rewritten(literal: &str) -> Option<String> {
    if !literal.starts_with(['\'', '"']) || !literal.contains('\\') {
        return None;
    }
    let mut text = String::with_capacity(literal.len());
    // Escaped line breaks move to the end of the text, so that lines keep their numbers.
    let mut breaks = String::new();
    let mut rest = literal;
    while let Some((before, escaped)) = rest.split_once('\\') {
        text.push_str(before);
        let character = escaped.chars().next()?;
        let mut taken = character.len_utf8();
        match character {
            '\n' => breaks.push('\n'),
            'a' => text.push_str("\\x07"),
            'v' => text.push_str("\\x0b"),
            // Not an escape in Python: the backslash stays.
            '/' => text.push_str("\\\\/"),
            'U' => {
                let code = u32::from_str_radix(escaped.get(1..9)?, 16).ok()?;
                text.push(char::from_u32(code)?);
                taken = 9;
            }
            other => text.extend(['\\', other]),
        }
        rest = &escaped[taken..];
    }
    text.push_str(rest);
    text.push_str(&breaks);
    (text != literal).then_some(text)
}
