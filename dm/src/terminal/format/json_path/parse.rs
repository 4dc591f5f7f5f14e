//! From the text of an expression to its parts.

/// Ranges in ranges, and filters in filters.
const DEPTH: usize = 32;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Text(String),
    Path(Vec<Step>),
    /// What stands up to `{end}` is written for each item.
    Range(Vec<Step>, Vec<Node>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The document: `$`.
    Root,
    Key(String),
    /// `*`
    Each,
    /// `..`: the value, and every value in it.
    Descend,
    /// `[1:4:2]`; a single index is a part of one item.
    Part(Part),
    /// `[a,b]`: one path after the other.
    Union(Vec<Vec<Step>>),
    /// `[?(…)]`
    Where(Condition),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    Index(i64),
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        by: usize,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub left: Operand,
    /// `None`: the left side exists.
    pub compared: Option<(Comparison, Operand)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Path(Vec<Step>),
    Literal(serde_json::Value),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("the JSONPath has a brace that is not closed: {0:?}")]
    Unclosed(String),
    #[error(
        "{0:?} is not a part of a JSONPath; write .key, ['key'], [0], [1:3], [*], ..key or [?(@.key==\"value\")]"
    )]
    Step(String),
    #[error("a JSONPath has {{end}} without {{range}}")]
    End,
    #[error("a {{range}} of the JSONPath has no {{end}}")]
    Range,
    #[error("the JSONPath is nested more than {DEPTH} deep")]
    Depth,
}

/// The parts of an expression.
pub fn parse(text: &str) -> Result<Vec<Node>, ParseError> {
    // The innermost list is the last one. Each range waits with its path for its end.
    let mut open: Vec<(Vec<Step>, Vec<Node>)> = vec![(Vec::new(), Vec::new())];
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let end = closing(after, '}').ok_or_else(|| ParseError::Unclosed(clipped(after)))?;
        if !before.is_empty() {
            push(&mut open, Node::Text(before.to_owned()));
        }
        action(after[..end].trim(), &mut open)?;
        rest = &after[end + 1..];
    }
    if !rest.is_empty() {
        push(&mut open, Node::Text(rest.to_owned()));
    }
    match (open.pop(), open.is_empty()) {
        (Some((_, nodes)), true) => Ok(nodes),
        _ => Err(ParseError::Range),
    }
}

fn push(open: &mut [(Vec<Step>, Vec<Node>)], node: Node) {
    if let Some((_, nodes)) = open.last_mut() {
        nodes.push(node);
    }
}

/// What stands in braces.
fn action(text: &str, open: &mut Vec<(Vec<Step>, Vec<Node>)>) -> Result<(), ParseError> {
    if text == "end" {
        let (path, body) = open
            .pop()
            .filter(|_| !open.is_empty())
            .ok_or(ParseError::End)?;
        push(open, Node::Range(path, body));
        return Ok(());
    }
    if let Some(range) = text.strip_prefix("range ") {
        if open.len() > DEPTH {
            return Err(ParseError::Depth);
        }
        open.push((path(range.trim(), 0)?, Vec::new()));
        return Ok(());
    }
    let node = match quoted(text) {
        Some((literal, "")) => Node::Text(literal),
        _ => Node::Path(path(text, 0)?),
    };
    push(open, node);
    Ok(())
}

fn path(text: &str, depth: usize) -> Result<Vec<Step>, ParseError> {
    if depth > DEPTH {
        return Err(ParseError::Depth);
    }
    let (mut steps, mut rest) = (Vec::new(), text);
    if let Some(after) = rest.strip_prefix('$') {
        steps.push(Step::Root);
        rest = after;
    } else if let Some(after) = rest.strip_prefix('@') {
        rest = after;
    }
    while !rest.is_empty() {
        rest = step(rest, &mut steps, depth)?;
    }
    Ok(steps)
}

/// Reads one step, and returns what follows it.
fn step<'t>(text: &'t str, steps: &mut Vec<Step>, depth: usize) -> Result<&'t str, ParseError> {
    let failed = || ParseError::Step(clipped(text));
    if let Some(inside) = text.strip_prefix('[') {
        let end = closing(inside, ']').ok_or_else(failed)?;
        steps.push(subscript(inside[..end].trim(), depth)?);
        return Ok(&inside[end + 1..]);
    }
    let rest = match text.strip_prefix("..") {
        Some(rest) => {
            steps.push(Step::Descend);
            rest
        }
        None => text.strip_prefix('.').ok_or_else(failed)?,
    };
    if rest.is_empty() || rest.starts_with('[') {
        return Ok(rest);
    }
    let (key, after) = key(rest);
    match key.as_str() {
        "" => return Err(failed()),
        "*" => steps.push(Step::Each),
        _ => steps.push(Step::Key(key)),
    }
    Ok(after)
}

/// A key up to the next step. A backslash keeps the character behind it.
fn key(text: &str) -> (String, &str) {
    let mut key = String::new();
    let mut characters = text.char_indices();
    while let Some((index, c)) = characters.next() {
        match c {
            '\\' => key.extend(characters.next().map(|(_, escaped)| escaped)),
            '.' | '[' | ' ' | '{' | '}' | '(' | ')' | '\'' | '"' | ',' => {
                return (key, &text[index..]);
            }
            c => key.push(c),
        }
    }
    (key, "")
}

/// What stands in brackets.
fn subscript(text: &str, depth: usize) -> Result<Step, ParseError> {
    let condition = text.strip_prefix("?(");
    if let Some(condition) = condition.and_then(|rest| rest.strip_suffix(')')) {
        return Ok(Step::Where(where_(condition.trim(), depth)?));
    }
    let parts = split(text, ',');
    if parts.len() > 1 {
        let one = |part: &&str| Ok(vec![subscript(part.trim(), depth + 1)?]);
        return match depth < DEPTH {
            true => Ok(Step::Union(
                parts.iter().map(one).collect::<Result<_, _>>()?,
            )),
            false => Err(ParseError::Depth),
        };
    }
    if text == "*" {
        return Ok(Step::Each);
    }
    if let Some((key, "")) = quoted(text) {
        // Dots in the quotes lead deeper, as in kubectl.
        return Ok(Step::Union(vec![path(&format!(".{key}"), depth + 1)?]));
    }
    part(text)
        .map(Step::Part)
        .ok_or_else(|| ParseError::Step(clipped(&format!("[{text}]"))))
}

fn part(text: &str) -> Option<Part> {
    let numbers: Vec<_> = text.split(':').map(str::trim).collect();
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    match numbers[..] {
        [index] => Some(Part::Index(index.parse().ok()?)),
        [from, to] => Some(Part::Slice {
            from: number(from)?,
            to: number(to)?,
            by: 1,
        }),
        [from, to, by] => Some(Part::Slice {
            from: number(from)?,
            to: number(to)?,
            by: by.parse().ok().filter(|by| *by > 0)?,
        }),
        _ => None,
    }
}

fn where_(text: &str, depth: usize) -> Result<Condition, ParseError> {
    const SIGNS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let sign = outside_quotes(text)
        .find(|(_, c)| matches!(c, '=' | '!' | '<' | '>'))
        .map(|(index, _)| index);
    let Some(index) = sign else {
        let left = operand(text, depth)?;
        return Ok(Condition {
            left,
            compared: None,
        });
    };
    let (left, rest) = text.split_at(index);
    let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
    let (sign, comparison) = sign.ok_or_else(|| ParseError::Step(clipped(rest)))?;
    Ok(Condition {
        left: operand(left.trim(), depth)?,
        compared: Some((*comparison, operand(rest[sign.len()..].trim(), depth)?)),
    })
}

fn operand(text: &str, depth: usize) -> Result<Operand, ParseError> {
    if let Some((literal, "")) = quoted(text) {
        return Ok(Operand::Literal(literal.into()));
    }
    if text.starts_with(['@', '.', '$']) {
        return Ok(Operand::Path(path(text, depth + 1)?));
    }
    let literal = serde_json::from_str(text);
    let literal = literal.map_err(|_| ParseError::Step(clipped(text)))?;
    Ok(Operand::Literal(literal))
}

/// A text in quotes with its escapes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut literal = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((index, c)) = characters.next() {
        match c {
            '\\' => match characters.next()?.1 {
                'n' => literal.push('\n'),
                't' => literal.push('\t'),
                'r' => literal.push('\r'),
                c if c == quote || c == '\\' => literal.push(c),
                c => literal.extend(['\\', c]),
            },
            c if c == quote => return Some((literal, &text[index + 1..])),
            c => literal.push(c),
        }
    }
    None
}

/// The place of the bracket that closes what is open. Those in quotes do not, and those that open others come first.
fn closing(text: &str, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, c) in outside_quotes(text) {
        match c {
            '[' | '{' | '(' => depth += 1,
            c if depth == 0 && c == close => return Some(index),
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    None
}

fn split(text: &str, separator: char) -> Vec<&str> {
    let places = outside_quotes(text).filter(|(_, c)| *c == separator);
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, c) in places {
        parts.push(&text[start..index]);
        start = index + c.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

/// The characters that stand neither in quotes nor behind a backslash.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let (mut quote, mut is_escaped) = (None, false);
    text.char_indices().filter(move |(_, c)| {
        if is_escaped {
            is_escaped = false;
            return false;
        }
        match (quote, *c) {
            (_, '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(*c),
            (None, _) => return true,
            (Some(open), c) if open == c => quote = None,
            _ => (),
        }
        false
    })
}

fn clipped(text: &str) -> String {
    const CHARS: usize = 80;
    text.chars().take(CHARS).collect()
}
