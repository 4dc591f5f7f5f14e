//! JSONPath templates as kubectl writes them: text with paths in braces, `port {.spec.ports[?(.name=="http")].port}`.
//!
//! Keys (`.a`, `.a\.b`, `['a.b']`), indices (`[0]`) and filters for equality. Not a crate: those that are kept well read
//! RFC 9535, which has neither braces nor escaped dots.

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Path(Vec<Step>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
    /// Items of a list whose field has this value, as text.
    Where {
        field: Vec<String>,
        value: String,
    },
}

/// The text at which a path is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a step of a path; write .key, ['key'], [0] or [?(.key==\"value\")]")]
pub struct PathError(String);

/// The parts of a template, in their order.
///
/// # Errors
/// A brace is not closed, or a path is not understood.
pub fn pieces(template: &str) -> Result<Vec<Piece>, PathError> {
    let (mut found, mut rest) = (Vec::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            found.push(Piece::Text(before.to_owned()));
        }
        let end = closing(after).ok_or_else(|| failed(after))?;
        found.push(Piece::Path(path(after[..end].trim())?));
        rest = &after[end + 1..];
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest.to_owned()));
    }
    Ok(found)
}

/// The place of the brace that closes the path. One in quotes does not.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(index, c)| {
        match (quote, c) {
            (None, '}') => return Some(index),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => (),
        }
        None
    })
}

fn path(text: &str) -> Result<Vec<Step>, PathError> {
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = step(rest).ok_or_else(|| failed(rest))?;
        steps.push(step);
        rest = after;
    }
    match steps.is_empty() {
        true => Err(failed(text)),
        false => Ok(steps),
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let (key, rest) = key(rest)?;
        return Some((Step::Key(key), rest));
    }
    let rest = text.strip_prefix('[')?;
    if let Some(rest) = rest.strip_prefix("?(") {
        let (condition, rest) = rest.split_once(")]")?;
        return Some((filter(condition)?, rest));
    }
    if let Some((key, rest)) = quoted(rest) {
        return Some((Step::Key(key.to_owned()), rest.strip_prefix(']')?));
    }
    let (index, rest) = rest.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

/// A key up to the next step. A backslash keeps a dot in it.
fn key(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut characters = text.char_indices();
    let mut end = text.len();
    while let Some((index, c)) = characters.next() {
        match c {
            '\\' => key.push(characters.next()?.1),
            '.' | '[' => {
                end = index;
                break;
            }
            '*' | ']' | '\'' | '"' | ' ' | '(' | ')' => return None,
            c => key.push(c),
        }
    }
    (!key.is_empty()).then(|| (key, &text[end..]))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text
        .chars()
        .next()
        .filter(|first| matches!(first, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// `.name=="http"`, with or without `@` before it.
fn filter(condition: &str) -> Option<Step> {
    let (field, value) = condition.split_once("==")?;
    let field = field.trim();
    let mut rest = field.strip_prefix('@').unwrap_or(field);
    let mut keys = Vec::new();
    while !rest.is_empty() {
        let (key, after) = key(rest.strip_prefix('.')?)?;
        keys.push(key);
        rest = after;
    }
    let value = value.trim();
    let value = match quoted(value) {
        Some((value, "")) => value,
        Some(_) => return None,
        None => value,
    };
    (!keys.is_empty()).then(|| Step::Where {
        field: keys,
        value: value.to_owned(),
    })
}

fn failed(text: &str) -> PathError {
    const CHARS: usize = 80;
    PathError(text.chars().take(CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Step {
        Step::Key(key.to_owned())
    }

    fn http() -> Step {
        Step::Where {
            field: vec!["name".to_owned()],
            value: "http".to_owned(),
        }
    }

    #[test]
    fn a_path_has_keys_indices_and_filters() {
        for (template, steps) in [
            ("{.spec.clusterIP}", vec![key("spec"), key("clusterIP")]),
            ("{$.a}", vec![key("a")]),
            ("{.data['a-b']}", vec![key("data"), key("a-b")]),
            ("{ .data[\"a}b\"] }", vec![key("data"), key("a}b")]),
            ("{.data.a\\.b}", vec![key("data"), key("a.b")]),
            ("{.l[1]}", vec![key("l"), Step::Index(1)]),
            ("{.l[?(.name==\"http\")]}", vec![key("l"), http()]),
            ("{.l[?(@.name == 'http')]}", vec![key("l"), http()]),
            ("{.l[?(.name==http)]}", vec![key("l"), http()]),
        ] {
            assert_eq!(pieces(template), Ok(vec![Piece::Path(steps)]), "{template}");
        }
    }

    #[test]
    fn text_stands_around_paths() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let expected = vec![
            text("a "),
            Piece::Path(vec![key("b")]),
            Piece::Path(vec![key("c")]),
            text(" d"),
        ];
        assert_eq!(pieces("a {.b}{.c} d"), Ok(expected));
        assert_eq!(pieces(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_not_understood_is_quoted() {
        for (template, part) in [
            ("{.a", ".a"),
            ("{}", ""),
            ("{.a[*]}", "[*]"),
            ("{..a}", "..a"),
            ("{.a[0:1]}", "[0:1]"),
            ("{range .a}", "range .a"),
            ("{.a[?(.b>1)]}", "[?(.b>1)]"),
            ("{.a[?(==1)]}", "[?(==1)]"),
        ] {
            assert_eq!(pieces(template), Err(failed(part)), "{template}");
        }
    }
}
