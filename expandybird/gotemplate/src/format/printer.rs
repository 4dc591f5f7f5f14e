//! Values by verbs.

use super::MAX_VALUE_DEPTH;
use super::integer::Sign;
use crate::error::Limit;
use crate::text;
use crate::value::{GoString, List, Map, Object, ObjectKind, UintKind, Value};

/// Flags, width and precision of a directive.
#[derive(Clone, Copy, Default)]
pub struct Flags {
    pub width: Option<usize>,
    pub precision: Option<usize>,
    pub minus: bool,
    pub plus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    /// `%+v`
    pub plus_v: bool,
    /// `%#v`
    pub sharp_v: bool,
}

pub struct Printer<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
    failure: Option<Limit>,
    pub flags: Flags,
    /// Inside a complaint, methods are not called.
    is_complaining: bool,
}

impl<'a> Printer<'a> {
    pub fn new(out: &'a mut Vec<u8>, limit: usize) -> Self {
        Self {
            out,
            limit,
            failure: None,
            flags: Flags::default(),
            is_complaining: false,
        }
    }

    pub fn finish(self) -> Result<(), Limit> {
        self.failure.map_or(Ok(()), Err)
    }

    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.out.len());
        if self.failure.is_none() {
            self.out
                .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
        if bytes.len() > room {
            self.failure = self.failure.or(Some(Limit::Output(self.limit)));
        }
    }

    pub fn write_rune(&mut self, rune: char) {
        self.write(rune.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn write_padding(&mut self, count: usize) {
        let byte = if self.flags.zero && !self.flags.minus {
            b'0'
        } else {
            b' '
        };
        let room = self.limit.saturating_sub(self.out.len());
        if count > room {
            self.failure = self.failure.or(Some(Limit::Output(self.limit)));
        } else if self.failure.is_none() {
            self.out.resize(self.out.len() + count, byte);
        }
    }

    /// Writes to the width.
    pub fn pad(&mut self, bytes: &[u8]) {
        match self.flags.width {
            None | Some(0) => self.write(bytes),
            Some(_) => self.pad_around(text::rune_count(bytes), |printer| printer.write(bytes)),
        }
    }

    /// Writes to the width, with spaces only.
    pub fn pad_with_spaces(&mut self, bytes: &[u8]) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(bytes);
        self.flags.zero = zero;
    }

    /// Writes to the width what is so many columns wide.
    pub fn pad_around(&mut self, columns: usize, write: impl FnOnce(&mut Self)) {
        let missing = self.flags.width.unwrap_or(0).saturating_sub(columns);
        if !self.flags.minus {
            self.write_padding(missing);
        }
        write(self);
        if self.flags.minus {
            self.write_padding(missing);
        }
    }

    /// An argument of a printing function.
    pub fn argument(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.pad(b"<nil>"),
            (Value::Nil, _) => self.complain(value, verb),
            (_, 'T') => self.string(value.type_text().as_bytes(), 's'),
            (_, 'p') => self.pointer(value, verb),
            (Value::List(_) | Value::Map(_) | Value::Object(_), 'w') => self.complain(value, verb),
            // Go knows bytes by their short name only where it knows the verb.
            (Value::Bytes(bytes), 'v') => self.bytes(bytes, verb, "[]byte", 0),
            _ => self.value(value, verb, 0),
        }
    }

    /// What Go prints where a verb does not fit the value.
    pub fn complain(&mut self, value: &Value, verb: char) {
        self.write(b"%!");
        self.write_rune(verb);
        self.write(b"(");
        if matches!(value, Value::Nil) {
            self.write(b"<nil>");
        } else {
            let outer = std::mem::replace(&mut self.is_complaining, true);
            self.write(value.type_text().as_bytes());
            self.write(b"=");
            self.argument(value, 'v');
            self.is_complaining = outer;
        }
        self.write(b")");
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) {
        if depth > MAX_VALUE_DEPTH {
            self.failure = self.failure.or(Some(Limit::Depth(MAX_VALUE_DEPTH)));
        }
        if self.has_failed() {
            return;
        }
        match value {
            Value::Bool(truth) if matches!(verb, 't' | 'v') => {
                self.pad(if *truth { b"true" } else { b"false" });
            }
            Value::Nil | Value::Bool(_) => self.complain(value, verb),
            Value::Int(_, number) => {
                self.integer(value, number.unsigned_abs(), Sign::of(*number), verb);
            }
            Value::Uint(_, number) => self.integer(value, *number, Sign::Unsigned, verb),
            Value::Float(number) => self.float(value, *number, verb),
            Value::String(text) => self.text(value, text, verb),
            Value::Bytes(bytes) => self.bytes(bytes, verb, "[]uint8", depth),
            Value::List(list) => self.list(list, verb, depth),
            Value::Map(map) => self.map(map, verb, depth),
            Value::Object(object) => self.object(value, &**object, verb, depth),
            Value::Function(_) => self.pointer(value, verb),
        }
    }

    /// A value in a list, a map or a struct.
    fn element(&mut self, value: &Value, verb: char, depth: usize) {
        match value {
            Value::Nil if self.flags.sharp_v => self.write(b"interface {}(nil)"),
            Value::Nil => self.write(b"<nil>"),
            _ => self.value(value, verb, depth + 1),
        }
    }

    fn text(&mut self, value: &Value, text: &GoString, verb: char) {
        match verb {
            'v' if self.flags.sharp_v => self.string(text, 'q'),
            'v' | 's' => self.string(text, 's'),
            'x' | 'X' | 'q' => self.string(text, verb),
            _ => self.complain(value, verb),
        }
    }

    /// Writes the brackets and separators of a list or map.
    fn elements<T>(
        &mut self,
        opening: &[u8],
        closing: &[u8],
        items: &[T],
        mut write: impl FnMut(&mut Self, &T),
    ) {
        self.write(if self.flags.sharp_v { b"{" } else { opening });
        for (index, item) in items.iter().enumerate() {
            if self.has_failed() {
                return;
            }
            self.separate(index);
            write(self, item);
        }
        self.write(if self.flags.sharp_v { b"}" } else { closing });
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.write(if self.flags.sharp_v { b", " } else { b" " });
        }
    }

    fn bytes(&mut self, bytes: &GoString, verb: char, type_text: &str, depth: usize) {
        if matches!(verb, 's' | 'x' | 'X' | 'q') {
            return self.string(bytes, verb);
        }
        if self.flags.sharp_v {
            self.write(type_text.as_bytes());
        }
        self.elements(b"[", b"]", bytes, |printer, byte| {
            let byte = Value::Uint(UintKind::Uint8, (*byte).into());
            printer.value(&byte, verb, depth + 1);
        });
    }

    fn list(&mut self, list: &List, verb: char, depth: usize) {
        if self.flags.sharp_v {
            self.write(list.type_text().as_bytes());
            if list.is_nil() {
                return self.write(b"(nil)");
            }
        }
        self.elements(b"[", b"]", list.items(), |printer, item| {
            printer.element(item, verb, depth);
        });
    }

    fn map(&mut self, map: &Map, verb: char, depth: usize) {
        if self.flags.sharp_v {
            self.write(map.type_text().as_bytes());
            if map.is_nil() {
                return self.write(b"(nil)");
            }
        } else {
            self.write(b"map");
        }
        self.elements(b"[", b"]", &map.entries(), |printer, (key, value)| {
            printer.value(&key.clone().into(), verb, depth + 1);
            printer.write(b":");
            printer.element(value, verb, depth);
        });
    }

    fn object(&mut self, value: &Value, object: &dyn Object, verb: char, depth: usize) {
        let takes_text = matches!(verb, 'v' | 's' | 'x' | 'X' | 'q');
        let takes_text = takes_text && !self.flags.sharp_v && !self.is_complaining;
        if let Some(text) = object.text().filter(|_| takes_text) {
            return self.text(value, &text, verb);
        }
        if object.kind() == ObjectKind::Pointer {
            if depth > 0 {
                return self.pointer(value, verb);
            }
            self.write(b"&");
        }
        if self.flags.sharp_v {
            self.write(object.type_name().trim_start_matches('*').as_bytes());
        }
        self.write(b"{");
        for (index, name) in object.field_names().iter().enumerate() {
            self.separate(index);
            if self.flags.plus_v || self.flags.sharp_v {
                self.write(name.as_bytes());
                self.write(b":");
            }
            self.element(&object.field(name).unwrap_or_default(), verb, depth);
        }
        self.write(b"}");
    }

    /// An address: always 0.
    fn pointer(&mut self, value: &Value, verb: char) {
        let has_address = match value {
            Value::Object(object) => object.kind() == ObjectKind::Pointer,
            Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Function(_) => true,
            _ => false,
        };
        match verb {
            _ if !has_address => self.complain(value, verb),
            'v' if self.flags.sharp_v => {
                self.write(format!("({})(0x0)", value.type_text()).as_bytes());
            }
            'v' | 'p' => {
                self.flags.sharp = !self.flags.sharp;
                self.integer(value, 0, Sign::Unsigned, 'x');
                self.flags.sharp = !self.flags.sharp;
            }
            'b' | 'o' | 'd' | 'x' | 'X' => self.integer(value, 0, Sign::Unsigned, verb),
            _ => self.complain(value, verb),
        }
    }
}
