//! How long files and functions are, as rustfmt lays them out: a function ends at the brace below its first line.

use std::path::Path;

use anyhow::Result;
use e2e::program::checkout;

/// Nine of ten files have fewer lines.
const FILE_LINES: usize = 300;
/// Nine of ten functions have fewer lines.
const FUNCTION_LINES: usize = 25;
/// The same of functions in tests, which list their cases.
const TEST_LINES: usize = 35;

/// The lines of each file, function, and function of a test.
#[derive(Default)]
struct Sizes {
    files: Vec<usize>,
    functions: Vec<usize>,
    tests: Vec<usize>,
}

impl Sizes {
    fn read(&mut self, folder: &Path, is_test: bool) -> Result<()> {
        for path in crate::sources(folder)? {
            let text = std::fs::read_to_string(&path)?;
            let lines: Vec<_> = text.lines().collect();
            self.files.push(lines.len());
            let inner = lines.iter().position(|line| line.trim() == "mod tests {");
            let mut folders = path.components();
            let is_test = is_test
                || path.ends_with("tests.rs")
                || folders.any(|folder| folder.as_os_str() == "tests");
            for (first, length) in functions(&lines) {
                match is_test || inner.is_some_and(|inner| first > inner) {
                    true => self.tests.push(length),
                    false => self.functions.push(length),
                }
            }
        }
        Ok(())
    }
}

/// The first line of each function, and its length.
fn functions<'l>(lines: &'l [&str]) -> impl Iterator<Item = (usize, usize)> + 'l {
    let starts = (0..lines.len()).filter(|&line| is_start(lines[line]));
    starts.filter_map(|first| {
        let from = &lines[first..];
        let signature = from.iter().find(|line| line.ends_with(['{', ';', '}']))?;
        if signature.ends_with(';') {
            return None;
        }
        if from[0].ends_with('}') {
            return Some((first, 1));
        }
        let indent = from[0].len() - from[0].trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let length = from.iter().position(|line| **line == *end)? + 1;
        Some((first, length))
    })
}

fn is_start(line: &str) -> bool {
    let words = line.split_whitespace();
    let mut words = words.skip_while(|word| {
        ["async", "const", "pub", "unsafe"].contains(word) || word.starts_with("pub(")
    });
    words.next() == Some("fn")
}

fn ninth_decile(name: &str, mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    let decile = lengths.get(lengths.len() * 9 / 10).copied();
    let decile = decile.unwrap_or_default();
    println!(
        "{} {name}: nine of ten have at most {decile} lines",
        lengths.len()
    );
    decile
}

#[test]
fn nine_of_ten_files_and_functions_are_short() -> Result<()> {
    let mut sizes = Sizes::default();
    for package in crate::folders()? {
        for (folder, is_test) in [("src", false), ("tests", true), ("benches", true)] {
            let folder = checkout().join(&package).join(folder);
            if folder.exists() {
                sizes.read(&folder, is_test)?;
            }
        }
    }
    let files = ninth_decile("files", sizes.files);
    let functions = ninth_decile("functions", sizes.functions);
    let tests = ninth_decile("functions of tests", sizes.tests);
    assert!(
        files < FILE_LINES,
        "divide the longest files by what they are about"
    );
    assert!(functions < FUNCTION_LINES, "divide the longest functions");
    assert!(
        tests < TEST_LINES,
        "divide the longest tests, or move their data into files"
    );
    Ok(())
}
