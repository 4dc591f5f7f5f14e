//! Lines of YAML.

use data_encoding::BASE64;
use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::format::{MAX_VALUE_DEPTH, format_float};
use expandybird_gotemplate::text::runes;
use expandybird_gotemplate::value::{GoString, Value};

use super::style::{Style, is_break, is_printable};
use super::{Layout, order};
use crate::json::{EncodeError, check, fields, float, plain};

/// Spaces a level.
const INDENT: usize = 2;
/// A scalar goes on in the next line at the first space after this column.
const BEST_WIDTH: usize = 80;
/// Characters of the longest key that stands before its colon.
const MAX_SIMPLE_KEY: usize = 128;

/// The document, with its final line end.
pub fn document(
    budget: &mut Budget,
    value: &Value,
    layout: Layout,
) -> Result<Vec<u8>, EncodeError> {
    let mut emitter = Emitter {
        budget,
        layout,
        out: String::new(),
        column: 0,
        depth: 0,
    };
    emitter.node(value, Place::Top, 0)?;
    if !emitter.out.ends_with('\n') {
        emitter.end_line();
    }
    Ok(emitter.out.into_bytes())
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the document.
    Top,
    /// After `- `.
    Item,
    /// After `key:`.
    Value,
    /// After `? ` or `: `.
    Complex,
}

struct Emitter<'a> {
    budget: &'a mut Budget,
    layout: Layout,
    out: String,
    column: usize,
    depth: usize,
}

impl Emitter<'_> {
    /// Writes a value whose own lines start at `indent`.
    fn node(&mut self, value: &Value, place: Place, indent: usize) -> Result<(), EncodeError> {
        check(self.budget, self.out.len())?;
        match value {
            Value::List(list) if !list.is_nil() => self.list(list.items(), place, indent),
            Value::Map(map) if !map.is_nil() => self.map(map.entries(), place, indent),
            Value::Object(object) if plain(&**object).is_none() => {
                self.map(fields(&**object), place, indent)
            }
            other => self.scalar(other, place, indent),
        }
    }

    fn list(&mut self, items: &[Value], place: Place, indent: usize) -> Result<(), EncodeError> {
        if items.is_empty() {
            self.separate(place);
            self.write("[]");
            return Ok(());
        }
        self.enter()?;
        // A list within a map is not indented.
        let indent = if place == Place::Value && self.layout == Layout::Compact {
            indent.saturating_sub(INDENT)
        } else {
            indent
        };
        for (index, item) in items.iter().enumerate() {
            self.start_line(place, index, indent);
            self.write("-");
            self.node(item, Place::Item, indent + INDENT)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn map(
        &mut self,
        entries: Vec<(GoString, Value)>,
        place: Place,
        indent: usize,
    ) -> Result<(), EncodeError> {
        if entries.is_empty() {
            self.separate(place);
            self.write("{}");
            return Ok(());
        }
        self.enter()?;
        let keyed = entries
            .into_iter()
            .map(|(key, value)| (runes(&key).collect(), value));
        for (index, (key, value)) in order::sort(keyed.collect(), self.layout)
            .into_iter()
            .enumerate()
        {
            self.start_line(place, index, indent);
            let key: String = key.into_iter().collect();
            if is_simple_key(&key) {
                let style = Style::of(&key, true, self.layout);
                self.text(&key, style, indent, Folding::Never);
                self.write(":");
                self.node(&value, Place::Value, indent + INDENT)?;
            } else {
                self.write("? ");
                self.text(
                    &key,
                    Style::of(&key, false, self.layout),
                    indent + INDENT,
                    Folding::AtSpaces,
                );
                self.start_line(Place::Value, 1, indent);
                self.write(":");
                self.node(&value, Place::Complex, indent + INDENT)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), EncodeError> {
        self.depth += 1;
        if self.depth > MAX_VALUE_DEPTH {
            return Err(EncodeError::Cycle);
        }
        Ok(())
    }

    /// Goes to where an entry starts: a new line, unless it is the first one after `- `.
    fn start_line(&mut self, place: Place, index: usize, indent: usize) {
        let continues = index == 0 && matches!(place, Place::Item | Place::Complex);
        if !continues && self.column > 0 {
            self.end_line();
        }
        self.pad(indent);
    }

    fn separate(&mut self, place: Place) {
        if place != Place::Top {
            self.write(" ");
        }
    }

    fn scalar(&mut self, value: &Value, place: Place, indent: usize) -> Result<(), EncodeError> {
        if let Value::Object(object) = value {
            let plain = plain(&**object).unwrap_or_default();
            // `go-yaml` 3 knows times.
            if let (Layout::Pretty, "time.Time", Value::String(time)) =
                (self.layout, object.type_name(), &plain)
            {
                self.separate(place);
                self.write(&time.to_str());
                return Ok(());
            }
            return self.scalar(&plain, place, indent);
        }
        self.separate(place);
        let indent = if place == Place::Top { INDENT } else { indent };
        match value {
            Value::Bool(truth) => self.write(if *truth { "true" } else { "false" }),
            Value::Int(_, number) => self.write(&number.to_string()),
            Value::Uint(_, number) => self.write(&number.to_string()),
            Value::Float(number) => self.write(&match self.layout {
                Layout::Compact => number_text(*number)?,
                Layout::Pretty => float_text(*number),
            }),
            // Bytes that are no text.
            Value::String(text)
                if self.layout == Layout::Pretty && std::str::from_utf8(text).is_err() =>
            {
                self.write("!!binary ");
                self.write(&BASE64.encode(text));
            }
            Value::String(text) => self.value_text(&runes(text).collect::<String>(), indent),
            Value::Bytes(bytes) => self.value_text(&BASE64.encode(bytes), indent),
            Value::Function(_) => return Err(EncodeError::Type(value.type_text())),
            Value::List(_) if self.layout == Layout::Pretty => self.write("[]"),
            Value::Map(_) if self.layout == Layout::Pretty => self.write("{}"),
            Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => self.write("null"),
        }
        Ok(())
    }

    fn value_text(&mut self, text: &str, indent: usize) {
        let folding = match self.layout {
            Layout::Compact => Folding::AtSpaces,
            Layout::Pretty => Folding::Never,
        };
        self.text(text, Style::of(text, false, self.layout), indent, folding);
    }

    fn text(&mut self, text: &str, style: Style, indent: usize, folding: Folding) {
        match style {
            Style::Plain => self.folded(text, indent, folding, |emitter, rune| {
                emitter.write_rune(rune)
            }),
            Style::SingleQuoted => {
                self.write("'");
                self.folded(text, indent, folding, |emitter, rune| match rune {
                    '\'' => emitter.write("''"),
                    _ => emitter.write_rune(rune),
                });
                self.write("'");
            }
            Style::DoubleQuoted => {
                self.write("\"");
                self.double_quoted(text, indent, folding);
                self.write("\"");
            }
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Writes a text without line ends. A single space after the best width becomes a line end.
    fn folded(
        &mut self,
        text: &str,
        indent: usize,
        folding: Folding,
        write: impl Fn(&mut Self, char),
    ) {
        let (mut after_space, mut after_break) = (false, false);
        let mut rest = text.chars();
        let mut is_first = true;
        while let Some(rune) = rest.next() {
            let next = rest.clone().next();
            let is_single = !after_space && next != Some(' ') && next.is_some() && !is_first;
            if rune == ' ' && is_single && folding == Folding::AtSpaces && self.column > BEST_WIDTH
            {
                self.fold(indent);
            } else {
                if after_break {
                    self.pad(indent);
                }
                write(self, rune);
            }
            after_space = rune == ' ';
            after_break = is_break(rune);
            is_first = false;
        }
    }

    /// Fills the line up to where a scalar goes on.
    fn pad(&mut self, indent: usize) {
        while self.column < indent {
            self.write(" ");
        }
    }

    fn fold(&mut self, indent: usize) {
        self.end_line();
        self.pad(indent);
    }

    fn double_quoted(&mut self, text: &str, indent: usize, folding: Folding) {
        let mut after_space = false;
        let mut is_first = true;
        let mut rest = text.chars();
        while let Some(rune) = rest.next() {
            let next = rest.clone().next();
            let may_fold =
                folding == Folding::AtSpaces && !after_space && !is_first && next.is_some();
            if rune == ' ' && may_fold && self.column > BEST_WIDTH {
                self.fold(indent);
                if next == Some(' ') {
                    self.write("\\");
                }
            } else if is_printable(rune) && !is_break(rune) && !matches!(rune, '"' | '\\') {
                self.write_rune(rune);
            } else {
                self.write(&escape(rune));
            }
            after_space = rune == ' ';
            is_first = false;
        }
    }

    /// `|`, what is said about the first and the last line, and the lines.
    fn literal(&mut self, text: &str, indent: usize) {
        self.write("|");
        if text.starts_with(' ') || text.starts_with(is_break) {
            self.write(&INDENT.to_string());
        }
        let mut ends = text.chars().rev();
        match (ends.next().map(is_break), ends.next().map(is_break)) {
            (Some(false) | None, _) => self.write("-"),
            (Some(true), Some(false)) => {}
            (Some(true), Some(true) | None) => self.write("+"),
        }
        self.end_line();
        let mut at_start = true;
        for rune in text.chars() {
            if is_break(rune) {
                if rune == '\n' {
                    self.end_line()
                } else {
                    self.write_rune(rune)
                }
                at_start = true;
                continue;
            }
            if at_start {
                self.pad(indent);
            }
            at_start = false;
            self.write_rune(rune);
        }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn write_rune(&mut self, rune: char) {
        self.out.push(rune);
        self.column = if is_break(rune) { 0 } else { self.column + 1 };
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }
}

/// Whether a long text may go on in the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    Never,
    AtSpaces,
}

fn is_simple_key(key: &str) -> bool {
    key.len() <= MAX_SIMPLE_KEY && !key.chars().any(is_break)
}

/// What the JSON of the number is in YAML: an integer where it is one, else the shortest digits.
fn number_text(number: f64) -> Result<String, EncodeError> {
    let json = float(number)?;
    if let Ok(integer) = json.parse::<i64>() {
        return Ok(integer.to_string());
    }
    if json.parse::<u64>().is_ok() {
        return Ok(json);
    }
    Ok(format_float(number, 'g', None))
}

/// The number as `go-yaml` 3 writes it.
fn float_text(number: f64) -> String {
    match number {
        number if number.is_nan() => ".nan".to_owned(),
        f64::INFINITY => ".inf".to_owned(),
        f64::NEG_INFINITY => "-.inf".to_owned(),
        number => format_float(number, 'g', None),
    }
}

fn escape(rune: char) -> String {
    let short = match rune {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            return match u32::from(rune) {
                code @ 0..=0xff => format!("\\x{code:02X}"),
                code @ 0x100..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}
