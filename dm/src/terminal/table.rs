//! Aligned columns without borders.

use super::text;

/// The blanks between two columns.
const GAP: usize = 2;
/// Before the further lines of a row.
const INDENT: &str = "    ";
/// The last cell is broken beside the others if it has this much room, else below them.
const ROOM: usize = 24;

pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|&title| title.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Escapes control characters of the cells.
    pub fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows
            .push(cells.iter().map(|cell| text::line(cell)).collect());
    }

    /// One line per row, after the header. If the width is known and too small, whole cells go to further lines, and only a
    /// cell that is longer than a line is broken between its words. Nothing is left out.
    pub fn render(&self, width: Option<usize>) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let widths: Vec<usize> = (0..self.header.len())
            .map(|column| {
                let cells = all().filter_map(|row| row.get(column));
                cells.map(|cell| chars(cell)).max().unwrap_or(0)
            })
            .collect();
        let mut shown = String::new();
        for row in all() {
            let line = render_row(row, &widths);
            match width.filter(|width| chars(&line) > *width) {
                Some(width) => shown.push_str(&folded(row, &widths, width)),
                None => shown.push_str(&format!("{line}\n")),
            }
        }
        shown
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn render_row(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, &width) in row.iter().zip(widths) {
        line.push_str(&format!("{cell:<padded$}", padded = width + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}

/// A row that is too long for one line.
fn folded(row: &[String], widths: &[usize], width: usize) -> String {
    let (mut shown, mut line) = (String::new(), String::new());
    for (index, (cell, &column)) in row.iter().zip(widths).enumerate() {
        if cell.is_empty() && index + 1 == row.len() {
            break;
        }
        let room = width.saturating_sub(chars(&line));
        if chars(cell) > room && index + 1 == row.len() && room >= ROOM {
            // The last cell has a column of its own.
            let indent = " ".repeat(chars(&line));
            let broken = text::wrapped(cell, &indent, Some(width));
            shown.push_str(&format!("{line}{}", broken.trim_start()));
            return shown;
        }
        if chars(cell) > room && !line.trim().is_empty() {
            shown.push_str(&format!("{}\n", line.trim_end()));
            INDENT.clone_into(&mut line);
        }
        if chars(cell) > width.saturating_sub(chars(&line)) {
            let broken = text::wrapped(cell, INDENT, Some(width));
            shown.push_str(broken.get(INDENT.len() - chars(&line)..).unwrap_or(&broken));
            INDENT.clone_into(&mut line);
            continue;
        }
        line.push_str(&format!("{cell:<padded$}", padded = column + GAP));
    }
    match line.trim().is_empty() {
        true => shown,
        false => format!("{shown}{}\n", line.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "STATE", "MESSAGE"]);
        table.row([
            "web",
            "Deployed",
            "all is well with this one, and it has been for days",
        ]);
        table.row(["a-longer-name", "Failed", "two\nlines"]);
        table.row(["empty", "", ""]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        insta::assert_snapshot!(table().render(None));
    }

    #[test]
    fn at_a_narrow_terminal_whole_cells_go_to_further_lines() {
        for (width, expected) in [
            (
                60,
                "\
NAME           STATE     MESSAGE
web            Deployed  all is well with this one, and it
                         has been for days
a-longer-name  Failed    two\\nlines
empty
",
            ),
            (
                40,
                "\
NAME           STATE     MESSAGE
web            Deployed
    all is well with this one, and it
    has been for days
a-longer-name  Failed    two\\nlines
empty
",
            ),
        ] {
            let shown = table().render(Some(width));
            assert_eq!(shown, expected);
            let lines = shown.lines();
            assert!(lines.map(chars).all(|length| length <= width), "{shown}");
        }
    }

    #[test]
    fn no_word_of_any_table_is_lost_at_any_width() {
        for width in 1..100 {
            let shown = table().render(Some(width));
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            assert_eq!(words(&shown), words(&table().render(None)), "{width}");
        }
    }
}
