//! The line of a fault.

/// The shown characters of a line.
const SHOWN: usize = 120;

/// The line, counted from 1, with a caret under the character of the fault, counted from 1. Without a column, the caret
/// is under the line's first character.
pub fn excerpt(source: &str, line: usize, column: Option<usize>) -> Option<String> {
    let text = source.lines().nth(line.checked_sub(1)?)?;
    let indent = text.chars().take_while(|c| c.is_whitespace()).count();
    let caret = column.map_or(indent, |column| column.saturating_sub(1));
    // Of a long line, only the part around the caret is shown.
    let from = if caret < SHOWN { 0 } else { caret - SHOWN / 2 };
    let text: String = text.chars().skip(from).take(SHOWN).collect();
    let (margin, caret) = (line.to_string().len(), caret - from);
    let text = text.replace('\t', " ");
    Some(format!(
        "{line} | {}\n{:margin$} | {:caret$}^",
        text.trim_end(),
        "",
        ""
    ))
}
