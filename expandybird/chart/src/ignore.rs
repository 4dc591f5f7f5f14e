//! `.helmignore`: which files of a folder are no part of the chart.
//!
//! Its rules are not those of `.gitignore`: `**` is refused, and `!PATTERN` ignores all that does *not* match.

use std::str::Chars;

use crate::pattern::{Part, matches};
use common_chart::File;

/// The file of the rules.
pub const NAME: &str = ".helmignore";

/// A line of `.helmignore` that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IgnoreError {
    /// `**`
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    /// An open `[` or a final `\`.
    #[error("syntax error in pattern")]
    Syntax,
}

struct Rule {
    pattern: Vec<Part>,
    is_negated: bool,
    is_for_folders: bool,
    /// Whether it is about the whole path, and not only about the last name.
    is_about_path: bool,
}

/// The files that are part of the chart.
pub fn kept(files: Vec<File>) -> Result<Vec<File>, IgnoreError> {
    let own = files.iter().find(|file| file.name == NAME);
    let text = own.map(|file| String::from_utf8_lossy(&file.data).into_owned());
    let lines = text.iter().flat_map(|text| text.lines());
    // Helm's own rule: hidden files of templates/.
    let lines = lines.chain(["templates/.?*"]);
    let rules = lines
        .filter_map(|line| rule(line).transpose())
        .collect::<Result<Vec<_>, _>>()?;
    Ok(files
        .into_iter()
        .filter(|file| !is_ignored(&rules, &file.name))
        .collect())
}

/// Whether the file, or a folder around it, is ignored.
fn is_ignored(rules: &[Rule], path: &str) -> bool {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    folders
        .into_iter()
        .any(|folder| matches_one(rules, folder, true))
        || matches_one(rules, path, false)
}

fn matches_one(rules: &[Rule], path: &str, is_folder: bool) -> bool {
    rules.iter().any(|rule| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let about = if rule.is_about_path { path } else { name };
        let has_kind = is_folder || !rule.is_for_folders;
        match rule.is_negated {
            true => !has_kind || !matches(&rule.pattern, about),
            false => has_kind && matches(&rule.pattern, about),
        }
    })
}

/// The rule of a line; nothing for a comment.
fn rule(line: &str) -> Result<Option<Rule>, IgnoreError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains("**") {
        return Err(IgnoreError::DoubleStar);
    }
    let (is_negated, text) = without(line, line.strip_prefix('!'));
    let (is_for_folders, text) = without(text, text.strip_suffix('/'));
    let (is_rooted, text) = without(text, text.strip_prefix('/'));
    Ok(Some(Rule {
        pattern: parse(text)?,
        is_negated,
        is_for_folders,
        is_about_path: is_rooted || text.contains('/'),
    }))
}

fn without<'t>(text: &'t str, rest: Option<&'t str>) -> (bool, &'t str) {
    (rest.is_some(), rest.unwrap_or(text))
}

/// Go's `filepath.Match`.
fn parse(pattern: &str) -> Result<Vec<Part>, IgnoreError> {
    let mut source = pattern.chars();
    let mut parts = Vec::new();
    while let Some(next) = source.next() {
        parts.push(match next {
            '*' => Part::Segment,
            '?' => Part::AnyInSegment,
            '[' => class(&mut source)?,
            '\\' => Part::Char(source.next().ok_or(IgnoreError::Syntax)?),
            other => Part::Char(other),
        });
    }
    Ok(parts)
}

fn class(source: &mut Chars<'_>) -> Result<Part, IgnoreError> {
    let negated = source.as_str().starts_with('^');
    if negated {
        source.next();
    }
    let mut ranges = Vec::new();
    while !source.as_str().starts_with(']') || ranges.is_empty() {
        let first = character(source)?;
        let last = match source.as_str().starts_with('-') {
            true => {
                source.next();
                character(source)?
            }
            false => first,
        };
        ranges.push((first, last));
    }
    source.next();
    Ok(Part::Class {
        negated,
        ranges,
        crosses: true,
    })
}

fn character(source: &mut Chars<'_>) -> Result<char, IgnoreError> {
    match source.next() {
        None | Some('-' | ']') => Err(IgnoreError::Syntax),
        Some('\\') => source.next().ok_or(IgnoreError::Syntax),
        Some(other) => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ignored_as_helm_ignores_them() {
        for (rules, path, expected) in [
            ("*.txt", "d/a.txt", true),
            ("/*.txt", "d/a.txt", false),
            ("/*.txt", "a.txt", true),
            ("d/*.txt", "d/a.txt", true),
            ("d/", "d/e/a.txt", true),
            ("a.txt/", "a.txt", false),
            ("# a.txt", "a.txt", false),
            ("[a-c].txt", "b.txt", true),
            ("[^a-c].txt", "b.txt", false),
            ("!a.txt", "a.txt", false),
            ("!a.txt", "Chart.yaml", true),
            ("", "templates/.hidden", true),
            ("", "templates/shown", false),
        ] {
            let files = vec![File::new(NAME, rules), File::new(path, "")];
            let kept = kept(files).unwrap();
            let is_kept = kept.iter().any(|file| file.name == path);
            assert_eq!(is_kept, !expected, "{rules} {path}");
        }
        let refused = |rules: &str| kept(vec![File::new(NAME, rules)]).err();
        assert_eq!(refused("a/**"), Some(IgnoreError::DoubleStar));
        assert_eq!(refused("[a"), Some(IgnoreError::Syntax));
    }
}
