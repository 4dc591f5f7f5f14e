//! Aligned columns without borders.

use std::ops::Range;

use super::text;

/// The blanks between two columns.
const GAP: usize = 2;
/// Before the further lines of a row.
const INDENT: &str = "    ";
/// The last cell is broken beside the others if it has this much room, and its longest word has room; else below them.
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

    /// One line per row, after the header. If the width is known and too small, columns without any value are left out, and
    /// columns that have no room go to further lines. Only a cell that is longer than a line is broken, between its words.
    pub fn render(&self, width: Option<usize>) -> String {
        let widths = self.widths();
        let lines: Vec<String> = self.all().map(|row| render_row(row, &widths)).collect();
        match width.filter(|width| lines.iter().any(|line| chars(line) > *width)) {
            Some(width) => self.with_values().folded(width),
            None => lines.iter().map(|line| format!("{line}\n")).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.header).chain(&self.rows)
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.all().filter_map(|row| row.get(column));
            cells.map(|cell| chars(cell)).max().unwrap_or(0)
        };
        (0..self.header.len()).map(widest).collect()
    }

    /// Of the last column.
    fn longest_word(&self) -> usize {
        let cells = self.all().filter_map(|row| row.last());
        let words = cells.flat_map(|cell| cell.split(' '));
        words.map(chars).max().unwrap_or(0)
    }

    /// Without the columns that are empty in all rows.
    fn with_values(&self) -> Self {
        let has_value = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            self.rows.is_empty() || cells.any(|cell| !cell.is_empty())
        };
        let kept = |row: &Vec<String>| -> Vec<String> {
            let cells = row.iter().enumerate();
            let cells = cells.filter(|(column, _)| has_value(*column));
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        Self {
            header: kept(&self.header),
            rows: self.rows.iter().map(kept).collect(),
        }
    }

    /// Rows that are too long for one line take several, with the same columns in each.
    fn folded(&self, width: usize) -> String {
        let widths = self.widths();
        let groups = groups(&widths, self.longest_word(), width);
        let mut shown = String::new();
        for row in self.all() {
            let line = render_row(row, &widths);
            if chars(&line) <= width {
                shown.push_str(&format!("{line}\n"));
                continue;
            }
            for group in &groups {
                let indent = if group.start == 0 { "" } else { INDENT };
                let (cells, widths) = (&row[group.clone()], &widths[group.clone()]);
                shown.push_str(&part(cells, widths, indent, width));
            }
        }
        shown
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn padded(cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths);
    cells
        .map(|(cell, &width)| format!("{cell:<padded$}", padded = width + GAP))
        .collect()
}

fn render_row(row: &[String], widths: &[usize]) -> String {
    padded(row, widths).trim_end().to_owned()
}

/// Which columns stand on a line together.
fn groups(widths: &[usize], longest_word: usize, width: usize) -> Vec<Range<usize>> {
    let (mut groups, mut start, mut used) = (Vec::new(), 0, 0);
    for (column, &own) in widths.iter().enumerate() {
        let is_last = column + 1 == widths.len();
        let needed = if is_last {
            own.min(ROOM.max(longest_word))
        } else {
            own
        };
        if column > start && used + needed > width {
            groups.push(start..column);
            (start, used) = (column, INDENT.len());
        }
        used += own + GAP;
    }
    groups.push(start..widths.len());
    groups
}

/// A line of a row that takes several. The last cell is broken if it has no room.
fn part(cells: &[String], widths: &[usize], indent: &str, width: usize) -> String {
    let Some((last, others)) = cells.split_last() else {
        return String::new();
    };
    if cells.iter().all(String::is_empty) {
        return String::new();
    }
    let head = format!("{indent}{}", padded(others, widths));
    match chars(&head) + chars(last) > width {
        true => {
            let broken = text::wrapped(last, &" ".repeat(chars(&head)), Some(width));
            format!("{head}{}", broken.trim_start())
        }
        false => format!("{}\n", format!("{head}{last}").trim_end()),
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
    fn a_cell_with_a_long_word_goes_below_the_others() {
        let mut table = Table::new(&["NAME", "REASON"]);
        table.row([
            "a-name-of-some-length",
            "no image registry.example.com/team/web:1",
        ]);
        let expected = "\
NAME                   REASON
a-name-of-some-length
    no image
    registry.example.com/team/web:1
";
        assert_eq!(table.render(Some(40)), expected);
    }

    #[test]
    fn further_lines_have_the_same_columns_in_each_row_and_none_without_a_value() {
        let mut table = Table::new(&["OPERATION", "TYPE", "ERROR", "STARTED", "TOOK"]);
        table.row(["op-0123456789", "create", "", "18s", "0s"]);
        table.row(["op-1", "rollback", "", "", "12s"]);
        let expected = "\
OPERATION      TYPE
    STARTED  TOOK
op-0123456789  create
    18s      0s
op-1           rollback
             12s
";
        assert_eq!(table.render(Some(26)), expected);
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
