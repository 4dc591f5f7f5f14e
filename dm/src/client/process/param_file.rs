//! Files of parameters: lines of `NAME=VALUE` or `NAME: VALUE`.
//!
//! Not the crate dotenvy: it replaces `$NAME` in values by environment variables, and a password may have a `$`.

/// A line that assigns nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} has no assignment; write NAME=VALUE")]
pub struct ParamFileError {
    line: usize,
}

/// The assignments of a file, in their order. Blank lines and comments are skipped.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, ParamFileError> {
    let lines = text.lines().zip(1..);
    let lines = lines.map(|(line, number)| (line.trim(), number));
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(line, number)| assignment(line).ok_or(ParamFileError { line: number }))
        .collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), plain(value.trim())))
}

/// The value without its quotes, or without the comment behind it.
fn plain(value: &str) -> String {
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote);
        if let Some(inner) = inner.and_then(|inner| quoted(inner, quote)) {
            return match quote {
                '"' => unescaped(inner),
                _ => inner.to_owned(),
            };
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    value[..end].trim_end().to_owned()
}

/// The text before the quote that closes it. Only a comment may follow.
fn quoted(text: &str, quote: char) -> Option<&str> {
    let mut is_escaped = false;
    let end = text.char_indices().find_map(|(index, c)| {
        let closes = c == quote && !is_escaped;
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
        closes.then_some(index)
    })?;
    let rest = text[end + 1..].trim_start();
    (rest.is_empty() || rest.starts_with('#')).then(|| &text[..end])
}

fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => result.extend(match characters.next() {
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                other => other,
            }),
            c => result.push(c),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_assignments() {
        for (line, value) in [
            ("A=x", "x"),
            ("A: x y", "x y"),
            ("export A=x", "x"),
            ("A=x # why", "x"),
            ("A=x#y", "x#y"),
            ("A=\"x # y\" # why", "x # y"),
            ("A='x\\n'", "x\\n"),
            ("A='x\\'", "x\\"),
            ("A=\"x\\ny\\r\\\"z\\$\"", "x\ny\r\"z$"),
            ("A=\"x\" y", "\"x\" y"),
            ("A=", ""),
            ("A=b=c:d", "b=c:d"),
            ("A=\"open", "\"open"),
            ("A=$HOME", "$HOME"),
        ] {
            let expected = vec![("A".to_owned(), value.to_owned())];
            assert_eq!(parse(line), Ok(expected), "{line}");
        }
        assert_eq!(parse("# nothing\n\n  \n"), Ok(Vec::new()));
    }

    #[test]
    fn a_line_without_an_assignment_is_refused_with_its_number() {
        for (text, line) in [("A=1\nB", 2), ("=1", 1), ("\n\n: x", 3)] {
            assert_eq!(parse(text), Err(ParamFileError { line }), "{text}");
        }
    }
}
