//! Fits lines into the width of a terminal: breaks them between words, and indents what follows a break.

use console::{measure_text_width, strip_ansi_codes};

/// What a line can begin with, before its text.
const MARKS: [&str; 9] = ["-", "+", "~", "!", "✓", "✗", "–", "*", "•"];
/// What follows a break of a line that begins with one of these words stands deeper.
const LABELS: [&str; 4] = ["error:", "hint:", "warning:", "note:"];
const INDENT: usize = 2;

/// The text in lines of at most this width, if it is known. A long word stays whole.
pub fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines = text.split('\n').map(|line| fitted_line(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

fn fitted_line(line: &str, width: usize) -> String {
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let plain = strip_ansi_codes(line);
    if is_excerpt(&plain) {
        return clipped(line, width);
    }
    let indent = " ".repeat(indent(&plain, width));
    let own = line.len() - line.trim_start_matches(' ').len();
    let (start, rest) = line.split_at(own);
    let (mut shown, mut used, mut is_first) = (start.to_owned(), own, true);
    for (gap, word) in words(rest) {
        let length = measure_text_width(word);
        // A mark alone does not fill a line.
        let has_text = used > indent.len();
        if !is_first && has_text && used + gap + length > width {
            shown.push_str(&format!("\n{indent}{word}"));
            used = indent.len() + length;
        } else {
            shown.push_str(&format!("{}{word}", " ".repeat(gap)));
            used += gap + length;
        }
        is_first = false;
    }
    shown
}

/// The words, each with the number of blanks before it.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut gap = 0;
    text.split(' ')
        .enumerate()
        .filter_map(move |(place, word)| {
            gap += usize::from(place > 0);
            match word.is_empty() {
                true => None,
                false => Some((std::mem::take(&mut gap), word)),
            }
        })
}

/// The depth at which a line goes on: below its text.
fn indent(plain: &str, width: usize) -> usize {
    let text = plain.trim_start_matches(' ');
    let own = plain.len() - text.len();
    let first = text.split(' ').next().unwrap_or_default();
    if MARKS.contains(&first) || LABELS.contains(&first) {
        return own + INDENT;
    }
    match second_column(plain, own + first.len()) {
        Some(column) if 2 * column <= width => column,
        Some(_) => own + 2 * INDENT,
        None => own,
    }
}

/// Where the text begins that stands beside the first word, with more than one blank between them.
fn second_column(plain: &str, end: usize) -> Option<usize> {
    let rest = &plain[end..];
    let gap = rest.len() - rest.trim_start_matches(' ').len();
    (gap > 1).then(|| measure_text_width(&plain[..end]) + gap)
}

/// Whether the line quotes a file: `12 | text`, or the caret below it.
fn is_excerpt(plain: &str) -> bool {
    let Some((number, _)) = plain.split_once(" | ") else {
        return false;
    };
    number.chars().all(|c| c == ' ' || c.is_ascii_digit())
}

fn clipped(line: &str, width: usize) -> String {
    console::truncate_str(line, width, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_below_its_text() {
        for (line, expected) in [
            ("one two three four", "one two\nthree four"),
            ("  - one two three", "  - one two\n    three"),
            ("    ~ spec.a: 3 → 5", "    ~ spec.a:\n      3 → 5"),
            ("error: one two", "error: one\n  two"),
            ("✗ one   two three", "✗ one   two\n  three"),
            (" ab  one two three", " ab  one\n     two\n     three"),
            (" abcd  one two", " abcd  one\n     two"),
            ("short\n\nas it is\n", "short\n\nas it is\n"),
            ("unbreakably-long", "unbreakably-long"),
            ("  12 | a: too long", "  12 | a: …"),
            ("     |   ^", "     |   ^"),
        ] {
            assert_eq!(fitted(line, Some(11)), expected, "{line}");
        }
        assert_eq!(fitted("one two three", None), "one two three");
    }

    #[test]
    fn colours_take_no_room() {
        let line = "\u{1b}[33m~ one two\u{1b}[0m";
        assert_eq!(fitted(line, Some(9)), line);
        let broken = "\u{1b}[33m~ one\n  two\u{1b}[0m";
        assert_eq!(fitted(line, Some(8)), broken);
    }

    #[test]
    fn no_word_is_lost_at_any_width() {
        let text = "error: deploying web: 1 of 3 resources failed\n  - resource web (Pod default/web): no image\n";
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for width in 1..60 {
            let shown = fitted(text, Some(width));
            assert_eq!(words(&shown), words(text), "{width}");
            assert!(width < 20 || shown.lines().all(|line| line.len() <= width));
        }
    }
}
