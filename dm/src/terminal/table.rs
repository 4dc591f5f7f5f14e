//! Aligned columns without borders.

use super::text;

/// The blanks between two columns.
const GAP: usize = 2;
/// The smallest width to which a column is clipped.
const NARROWEST: usize = 8;

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

    /// One line per row, after the header. The last column is clipped if the width is known and too small.
    pub fn render(&self, width: Option<usize>) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let columns = self.header.len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                all()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let before_last: usize = widths
            .iter()
            .take(columns.saturating_sub(1))
            .map(|width| width + GAP)
            .sum();
        let room = width.map(|width| width.saturating_sub(before_last).max(NARROWEST));
        let mut shown = String::new();
        for row in all() {
            shown.push_str(&render_row(row, &widths, room));
            shown.push('\n');
        }
        shown
    }
}

fn render_row(row: &[String], widths: &[usize], room: Option<usize>) -> String {
    let mut line = String::new();
    for (index, (cell, &width)) in row.iter().zip(widths).enumerate() {
        if index + 1 == row.len() {
            line.push_str(&clip(cell, room));
        } else {
            line.push_str(&format!("{cell:<padded$}", padded = width + GAP));
        }
    }
    line.truncate(line.trim_end().len());
    line
}

fn clip(cell: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if cell.chars().count() > room => {
            let kept: String = cell.chars().take(room.saturating_sub(1)).collect();
            format!("{kept}…")
        }
        _ => cell.to_owned(),
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
    fn only_the_last_column_is_clipped_to_the_terminal() {
        insta::assert_snapshot!(table().render(Some(40)));
    }
}
