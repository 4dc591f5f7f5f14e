//! `pprint`: long values on several lines, in the layout of Python's `pprint`.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::{order, python, repr};
use crate::engine::jinja::meter;

/// Characters of a line.
const WIDTH: usize = 80;

pub fn pretty(value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    write(value, 0, 0, &mut out)?;
    meter::check(out.len())?;
    Ok(out)
}

/// A value that begins at a column, followed by this many characters.
fn write(value: &Value, column: usize, behind: usize, out: &mut String) -> Result<(), Error> {
    let flat = flat(value)?;
    let fits = column + flat.chars().count() + behind <= WIDTH;
    match value.kind() {
        ValueKind::String if !fits && !value.is_safe() && value.is_true() => {
            write_text(value, column, behind, out)
        }
        ValueKind::Map if !fits && repr::is_dict(value) => write_map(value, column, behind, out),
        ValueKind::Seq if !fits && value.len() != Some(0) => write_list(value, column, behind, out),
        _ => {
            out.push_str(&flat);
            meter::check(out.len())
        }
    }
}

/// Whole words in pieces, each on a line of its own; in round brackets if the text is all that is printed.
fn write_text(value: &Value, column: usize, behind: usize, out: &mut String) -> Result<(), Error> {
    let is_all = column == 0 && behind == 0;
    let (column, behind) = if is_all { (1, 1) } else { (column, behind) };
    let pieces = pieces(python::text(value)?, WIDTH.saturating_sub(column), behind)?;
    let text = pieces.join(&format!("\n{:column$}", ""));
    match is_all && pieces.len() > 1 {
        true => out.push_str(&format!("({text})")),
        false => out.push_str(&text),
    }
    meter::check(out.len())
}

/// Lines, and words of lines that are wider than this. Some characters follow the last one.
fn pieces(text: &str, width: usize, behind: usize) -> Result<Vec<String>, Error> {
    let mut pieces = Vec::new();
    let lines = python::lines(text, true);
    for (index, line) in lines.iter().enumerate() {
        let behind = if index + 1 == lines.len() { behind } else { 0 };
        let fits = |text: &str, behind| Ok::<_, Error>(width_of(text)? + behind <= width);
        if fits(line, behind)? {
            pieces.push((*line).to_owned());
            continue;
        }
        let mut words = words(line).into_iter().peekable();
        let mut piece = String::new();
        while let Some(word) = words.next() {
            let behind = if words.peek().is_none() { behind } else { 0 };
            let longer = format!("{piece}{word}");
            if fits(&longer, behind)? {
                piece = longer;
            } else if !piece.is_empty() {
                pieces.push(std::mem::replace(&mut piece, word.to_owned()));
            } else {
                piece = longer;
            }
        }
        pieces.push(piece);
    }
    pieces
        .into_iter()
        .map(|piece| flat(&piece.into()))
        .collect()
}

fn width_of(text: &str) -> Result<usize, Error> {
    Ok(flat(&text.into())?.chars().count())
}

/// Each with the white space behind it.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let space = rest.find(python::is_space).unwrap_or(rest.len());
        let more = rest[space..].find(|c| !python::is_space(c));
        let (word, after) = rest.split_at(more.map_or(rest.len(), |more| space + more));
        words.push(word);
        rest = after;
    }
    words
}

fn write_list(value: &Value, column: usize, behind: usize, out: &mut String) -> Result<(), Error> {
    let is_list = python::is_mutable_list(value);
    let items = python::items(value)?;
    let last = items.len().saturating_sub(1);
    let close = match (is_list, last) {
        (true, _) => "]",
        (false, 0) => ",)",
        (false, _) => ")",
    };
    out.push(if is_list { '[' } else { '(' });
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!(",\n{:column$} ", ""));
        }
        let behind = if index == last {
            behind + close.len()
        } else {
            1
        };
        write(item, column + 1, behind, out)?;
    }
    out.push_str(close);
    Ok(())
}

fn write_map(value: &Value, column: usize, behind: usize, out: &mut String) -> Result<(), Error> {
    let pairs = sorted(value)?;
    let last = pairs.len().saturating_sub(1);
    out.push('{');
    for (index, (key, item)) in pairs.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!(",\n{:column$} ", ""));
        }
        let key = flat(key)?;
        out.push_str(&key);
        out.push_str(": ");
        let behind = if index == last { behind + 1 } else { 1 };
        write(item, column + key.chars().count() + 3, behind, out)?;
    }
    out.push('}');
    Ok(())
}

/// On one line, with sorted keys of maps.
fn flat(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Map if repr::is_dict(value) => {
            let pairs = sorted(value)?.into_iter();
            let pairs = pairs.map(|(key, item)| Ok(format!("{}: {}", flat(&key)?, flat(&item)?)));
            let pairs: Vec<String> = pairs.collect::<Result<_, Error>>()?;
            Ok(format!("{{{}}}", pairs.join(", ")))
        }
        ValueKind::Seq if python::is_mutable_list(value) || python::is_tuple(value) => {
            let items: Vec<String> = python::items(value)?
                .iter()
                .map(flat)
                .collect::<Result<_, _>>()?;
            let items = items.join(", ");
            Ok(match (python::is_tuple(value), value.len()) {
                (true, Some(1)) => format!("({items},)"),
                (true, _) => format!("({items})"),
                (false, _) => format!("[{items}]"),
            })
        }
        _ => meter::text(|out| repr::write_repr(out, value, 0)),
    }
}

/// By key. Keys without an order are sorted by their types.
fn sorted(map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    let mut pairs = python::pairs(map)?;
    let mut failure = None;
    pairs.sort_by(|(a, _), (b, _)| {
        let by_type = || Ok(repr::type_name(a).cmp(repr::type_name(b)));
        let order = order::compare(a, b).or_else(|_| by_type());
        order.unwrap_or_else(|error: Error| {
            failure = Some(error);
            std::cmp::Ordering::Equal
        })
    });
    failure.map_or(Ok(pairs), Err)
}
