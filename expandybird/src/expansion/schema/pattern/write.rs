//! Writes a pattern in the common syntax of ECMA and the regex engine.
//!
//! The validator accepts only ECMA syntax, and gives it to the engine with ASCII versions of `\d`, `\s` and `\w`. So
//! these are written out, flags are on groups, and names are numbers.

use std::fmt::Write;

use super::tree::{Anchor, Branches, Class, ClassKind, GroupKind, Item, Node, Pattern};

const ASCII_WORD: &str = "A-Za-z0-9_";
/// The characters of `str.isalnum`, and the underscore.
const WORD: &str = r"\p{L}\p{N}_";
/// All other categories. Of the connectors, those that are not the underscore.
const NO_WORD: &str = r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\u203f\u2040\u2054\ufe33\ufe34\ufe4d-\ufe4f\uff3f";
/// The characters of `str.isspace`.
const SPACE: &str = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const NO_SPACE: &str = r"\x00-\x08\x0e-\x1b\x21-\x84\x86-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\u{10ffff}";

pub fn write(pattern: &Pattern) -> String {
    let mut writer = Writer {
        out: String::new(),
        refers_back: pattern.refers_back,
    };
    if pattern.ignores_case {
        writer.group("(?i:", &pattern.branches, true);
    } else {
        writer.branches(&pattern.branches, true);
    }
    writer.out
}

struct Writer {
    out: String,
    refers_back: bool,
}

impl Writer {
    /// `is_last`: no part of the pattern follows.
    fn branches(&mut self, branches: &Branches, is_last: bool) {
        for (index, nodes) in branches.iter().enumerate() {
            if index > 0 {
                self.out.push('|');
            }
            for (index, node) in nodes.iter().enumerate() {
                self.node(node, is_last && index + 1 == nodes.len());
            }
        }
    }

    fn group(&mut self, open: &str, branches: &Branches, is_last: bool) {
        self.out.push_str(open);
        self.branches(branches, is_last);
        self.out.push(')');
    }

    fn node(&mut self, node: &Node, is_last: bool) {
        match node {
            Node::Char(character) => self.character(*character),
            Node::Any { with_newlines } => {
                let any = if *with_newlines { "(?s:.)" } else { "." };
                self.out.push_str(any);
            }
            Node::Set { is_negated, items } => self.set(*is_negated, items),
            Node::Anchor(anchor) => self.anchor(*anchor, is_last),
            Node::Group { kind, branches } => {
                let is_last = is_last && !matches!(kind, GroupKind::Behind | GroupKind::NotBehind);
                self.group(opening(*kind), branches, is_last);
            }
            // In brackets, because a digit may follow.
            Node::Reference(number) => self.push(format_args!("(?:\\{number})")),
            Node::Repeat {
                node,
                least,
                most,
                is_lazy,
            } => self.repeat(node, (*least, *most), *is_lazy),
        }
    }

    fn repeat(&mut self, node: &Node, (least, most): (u32, Option<u32>), is_lazy: bool) {
        // A position matches once or not at all, and the engine rejects its repetition.
        if node.is_place() {
            let (open, close) = if least == 0 { ("(?:", "|)") } else { ("", "") };
            self.out.push_str(open);
            self.node(node, false);
            return self.out.push_str(close);
        }
        self.node(node, false);
        match (least, most) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (least, None) => self.push(format_args!("{{{least},}}")),
            (least, Some(most)) => self.push(format_args!("{{{least},{most}}}")),
        }
        if is_lazy {
            self.out.push('?');
        }
    }

    fn anchor(&mut self, anchor: Anchor, is_last: bool) {
        self.out.push_str(match anchor {
            Anchor::TextStart => "^",
            Anchor::LineStart => "(?m:^)",
            Anchor::TextEnd => "$",
            Anchor::LineEnd => "(?m:$)",
            // Without look-ahead the engine need not backtrack. Only a following part could see the newline.
            Anchor::LastLineEnd if is_last && !self.refers_back => r"\n?$",
            Anchor::LastLineEnd => r"(?=\n?$)",
            Anchor::Boundary {
                is_negated: false,
                is_ascii: false,
            } => r"\b",
            Anchor::Boundary {
                is_negated: true,
                is_ascii: false,
            } => r"\B",
            Anchor::Boundary {
                is_negated: false,
                is_ascii: true,
            } => r"(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))",
            Anchor::Boundary {
                is_negated: true,
                is_ascii: true,
            } => r"(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))",
        });
    }

    fn set(&mut self, is_negated: bool, items: &[Item]) {
        self.out.push_str(if is_negated { "[^" } else { "[" });
        for item in items {
            match item {
                Item::Range(first, last) if first == last => self.character(*first),
                Item::Range(first, last) => {
                    self.character(*first);
                    self.out.push('-');
                    self.character(*last);
                }
                Item::Class(class) => self.out.push_str(members(*class)),
            }
        }
        self.out.push(']');
    }

    /// Escaped if it could have another meaning, inside or outside of brackets.
    fn character(&mut self, character: char) {
        match character {
            c if c.is_ascii_control() => self.push(format_args!("\\x{:02x}", u32::from(c))),
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$'
            | '&' | '~' => self.push(format_args!("\\{character}")),
            '-' => self.out.push_str(r"\-"),
            c => self.out.push(c),
        }
    }

    fn push(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.out.write_fmt(arguments);
    }
}

fn opening(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Capturing => "(",
        GroupKind::Plain => "(?:",
        GroupKind::IgnoringCase => "(?i:",
        GroupKind::RespectingCase => "(?-i:",
        GroupKind::Ahead => "(?=",
        GroupKind::NotAhead => "(?!",
        GroupKind::Behind => "(?<=",
        GroupKind::NotBehind => "(?<!",
    }
}

/// In the form for brackets.
fn members(class: Class) -> &'static str {
    match (class.kind, class.is_negated, class.is_ascii) {
        (ClassKind::Digit, false, false) => r"\p{Nd}",
        (ClassKind::Digit, true, false) => r"\P{Nd}",
        (ClassKind::Digit, false, true) => "0-9",
        (ClassKind::Digit, true, true) => r"\x00-\x2f\x3a-\u{10ffff}",
        (ClassKind::Space, false, false) => SPACE,
        (ClassKind::Space, true, false) => NO_SPACE,
        (ClassKind::Space, false, true) => r"\t-\r\x20",
        (ClassKind::Space, true, true) => r"\x00-\x08\x0e-\x1f\x21-\u{10ffff}",
        (ClassKind::Word, false, false) => WORD,
        (ClassKind::Word, true, false) => NO_WORD,
        (ClassKind::Word, false, true) => ASCII_WORD,
        (ClassKind::Word, true, true) => r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\u{10ffff}",
    }
}
