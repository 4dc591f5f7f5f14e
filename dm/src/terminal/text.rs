//! Text for a terminal: untrusted text is escaped, and times are written for users.

use jiff::Timestamp;

/// One line. Control characters and characters that reorder text are escaped.
pub fn line(text: &str) -> String {
    escaped(text, &[])
}

/// The first line of a message. Further ones are an excerpt of a file.
pub fn first(text: &str) -> String {
    line(text.lines().next().unwrap_or_default())
}

/// Like [`line`], but line breaks stay.
pub fn lines(text: &str) -> String {
    escaped(text, &['\n'])
}

/// Like [`line`], but tabs stay: what a program wrote.
pub fn output(text: &str) -> String {
    escaped(text, &['\t'])
}

/// Like [`line`], but line breaks and tabs stay: a document.
pub fn document(text: &str) -> String {
    escaped(text, &['\n', '\t'])
}

fn escaped(text: &str, kept: &[char]) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) || kept.contains(&c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

/// Breaks the text between words if the width is known, and indents each line. A long word stays whole.
pub fn wrapped(text: &str, indent: &str, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let (mut shown, mut line) = (String::new(), String::new());
    let chars = |text: &str| text.chars().count();
    for word in text.split(' ') {
        let is_full = chars(indent) + chars(&line) + 1 + chars(word) > width;
        if is_full && !line.is_empty() {
            shown.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    shown + format!("{indent}{line}").trim_end() + "\n"
}

/// Whether a terminal only displays it: neither a control character nor one that changes the direction of text.
pub fn is_harmless(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    !c.is_control() && !reorders && !breaks
}

/// How long ago, in a suitable unit: `90s`, `3m`, `5h`, `12d`.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(
            line("a\x1b[2Jb\r\n\u{9b}\u{202e}ä"),
            r"a\u{1b}[2Jb\r\n\u{9b}\u{202e}ä"
        );
        assert_eq!(output("a\tb\x1b[1m"), "a\tb\\u{1b}[1m");
        assert_eq!(lines("a\nb\t\x07"), "a\nb\\t\\u{7}");
        assert_eq!(document("a\nb\t\x07"), "a\nb\t\\u{7}");
    }

    #[test]
    fn lines_are_broken_between_words_only() {
        assert_eq!(
            wrapped("one two three", "  ", Some(9)),
            "  one two\n  three\n"
        );
        assert_eq!(wrapped("unbreakable", "", Some(4)), "unbreakable\n");
        assert_eq!(wrapped("one two", "", None), "one two\n");
        assert_eq!(wrapped("", "  ", Some(4)), "\n");
    }

    #[test]
    fn an_age_is_told_in_the_unit_that_fits() {
        let start = Timestamp::UNIX_EPOCH;
        for (seconds, expected) in [
            (-5, "0s"),
            (90, "90s"),
            (185, "3m"),
            (7200, "2h"),
            (1_000_000, "11d"),
        ] {
            let now = Timestamp::from_second(seconds).unwrap();
            assert_eq!(age(start, now), expected);
        }
    }
}
