//! Random templates.

use fastrand::Rng;

use crate::case::Case;
use crate::{format_string, typed};

const FIELDS: &[&str] = &[
    "s", "e", "u", "bad", "h", "n", "neg", "i", "u8", "u64", "f", "big", "tiny", "tie", "z", "t",
    "nul", "l", "ll", "le", "nl", "ls", "m", "me", "nm", "sm", "b", "o", "p", "nope", "m.a",
    "m.a.x", "m.b", "m.c", "m.d", "m.d.e", "sm.k", "sm.zz", "o.Name", "o.Any", "o.Nope", "o.Self",
    "s.x", "nul.x", "nope.x", "p.Name", "o.Fail",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "+7",
    "010",
    "0x1F",
    "0b11",
    "0o17",
    "1_000",
    "1e3",
    "2.5",
    "-0.0",
    "1e100",
    ".5",
    "0x1p4",
    "0x1.8p-2",
    "9223372036854775807",
    "9223372036854775808",
    "1.",
    "1e-7",
    "'a'",
    "'\\n'",
    "'é'",
    "'\\x41'",
    "1__0",
    "0x",
    "1e",
    "123456789.0",
    "1_0.5",
    "0_1",
];
const STRINGS: &[&str] = &[
    "\"\"",
    "\"a\"",
    "\"k\"",
    "\"x y\"",
    "`raw`",
    "\"\\n\\t\\\"\"",
    "\"\\u00e9\\x41\\101\"",
    "\"a\\xff\"",
    "`a\nb`",
    "\"b\"",
    "\"\\q\"",
    "\"é\"",
    "\"<&>\"",
];
const FUNCTIONS: &[&str] = &[
    "and",
    "or",
    "not",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "index",
    "slice",
    "len",
    "print",
    "println",
    "html",
    "js",
    "urlquery",
    "call",
    "add",
    "echo",
    "fail",
    "int64",
    "join",
    "kv",
    "list",
    "set",
    "strings",
    "takeBool",
    "takeBytes",
    "takeFloat",
    "takeInt64",
    "takeList",
    "takeMap",
    "takeString",
    "takeUint",
    "typeOf",
    "zero",
    "printf",
    "nope",
];
const METHODS: &[&str] = &[
    "o.Greet",
    "o.Sum",
    "o.Self.Greet",
    "o.Name",
    "m.a",
    "p.String",
    "s",
];
const VARIABLES: &[&str] = &["$x", "$y", "$z"];

struct Grammar {
    random: Rng,
    depth: usize,
    /// Ranges around the place, for `break`.
    ranges: usize,
}

/// The case of a seed.
pub fn derive(seed: u64) -> Case {
    let mut grammar = Grammar {
        random: Rng::with_seed(seed),
        depth: 0,
        ranges: 0,
    };
    let count = if grammar.chance(5) { 2 } else { 1 };
    let names = ["t", "other"].into_iter().take(count);
    let templates = names
        .map(|name| (name.to_owned(), grammar.template()))
        .collect();
    let mut case = Case {
        templates,
        missing_key: grammar.one(&["default", "zero", "error"]),
        delimiters: ("", ""),
        data: typed::data(),
    };
    if grammar.chance(20) {
        case.delimiters = ("<<", ">>");
        for (_, text) in &mut case.templates {
            *text = text.replace("{{", "<<").replace("}}", ">>");
        }
    }
    case
}

impl Grammar {
    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.random.usize(..of.len())]
    }

    fn chance(&mut self, one_in: u8) -> bool {
        self.random.u8(..one_in) == 0
    }

    fn template(&mut self) -> String {
        let mut text = String::new();
        if self.chance(4) {
            let body = self.items(2);
            text.push_str(&format!("{{{{define \"d\"}}}}{body}{{{{end}}}}"));
        }
        let count = self.random.usize(1..5);
        text.push_str(&self.items(count));
        if self.chance(8) {
            self.mutated(&text)
        } else {
            text
        }
    }

    /// A few characters are moved, added or lost: such templates test the parser's errors.
    fn mutated(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..self.random.usize(1..4) {
            if characters.is_empty() {
                break;
            }
            let at = self.random.usize(..characters.len());
            let other = self.random.usize(..characters.len());
            match self.random.u8(..3) {
                0 => drop(characters.remove(at)),
                1 => {
                    let strange = self.random.choice(
                        "{}()|.$\"'`-:=, \n/*@#9xé\u{7f}"
                            .chars()
                            .collect::<Vec<_>>(),
                    );
                    characters.insert(at, strange.unwrap_or(' '));
                }
                _ => characters.swap(at, other),
            }
        }
        characters.into_iter().collect()
    }

    fn items(&mut self, count: usize) -> String {
        (0..count).map(|_| self.item()).collect()
    }

    fn action(&mut self, inside: &str) -> String {
        let left = self.one(&["{{", "{{", "{{", "{{- ", "{{ ", "{{\n"]);
        let right = self.one(&["}}", "}}", "}}", " -}}", " }}", "\n}}"]);
        format!("{left}{inside}{right}")
    }

    fn item(&mut self) -> String {
        if self.depth > 3 {
            return self.one(&["text", "", " \n "]).to_owned();
        }
        self.depth += 1;
        let item = match self.random.u8(..20) {
            0..=2 => self
                .one(&["text", " ", "\n\n", "a\tb ", "é", "}}"])
                .to_owned(),
            3..=10 => {
                let pipeline = self.pipeline();
                self.action(&pipeline)
            }
            11 | 12 => self.block("if"),
            13 => self.block("with"),
            14 | 15 => self.range(),
            16 => {
                let pipeline = self.operand();
                let name = self.one(&["d", "other", "t2", "nope"]);
                self.action(&format!("template {name:?} {pipeline}"))
            }
            17 => self.comment(),
            18 if self.ranges > 0 || self.chance(20) => {
                self.one(&["{{break}}", "{{continue}}"]).to_owned()
            }
            18 => {
                let (operand, body) = (self.operand(), self.items(1));
                format!("{{{{block \"b\" {operand}}}}}{body}{{{{end}}}}")
            }
            _ => {
                let variable = self.one(VARIABLES);
                let pipeline = self.pipeline();
                let sign = self.one(&[":=", ":=", "="]);
                self.action(&format!("{variable} {sign} {pipeline}"))
            }
        };
        self.depth -= 1;
        item
    }

    fn comment(&mut self) -> String {
        let comments = [
            "{{/* c */}}",
            "{{- /* c */ -}}",
            "{{/* c */ }}",
            "{{template \"d\"}}",
        ];
        self.one(&comments).to_owned()
    }

    fn block(&mut self, keyword: &str) -> String {
        let mut condition = self.pipeline();
        if self.chance(4) {
            condition = format!("{} := {condition}", self.one(VARIABLES));
        }
        let mut text = self.action(&format!("{keyword} {condition}"));
        text.push_str(&self.items(2));
        if self.chance(3) {
            let (condition, body) = (self.operand(), self.items(1));
            text.push_str(&format!("{{{{else {keyword} {condition}}}}}{body}"));
        }
        if self.chance(2) {
            let body = self.items(1);
            text.push_str(&format!("{{{{else}}}}{body}"));
        }
        text + "{{end}}"
    }

    fn range(&mut self) -> String {
        let over = if self.chance(3) {
            self.pipeline()
        } else {
            self.operand()
        };
        let variables = self.one(&[
            "",
            "",
            "$x := ",
            "$x, $y := ",
            "$x = ",
            "$x, $y = ",
            "$x,$y:=",
        ]);
        let mut text = self.action(&format!("range {variables}{over}"));
        self.ranges += 1;
        text.push_str(&self.items(2));
        self.ranges -= 1;
        if self.chance(3) {
            let body = self.items(1);
            text.push_str(&format!("{{{{else}}}}{body}"));
        }
        text + "{{end}}"
    }

    fn pipeline(&mut self) -> String {
        let mut text = self.command();
        while self.chance(4) {
            let separator = self.one(&[" | ", "|"]);
            text = format!("{text}{separator}{}", self.command());
        }
        text
    }

    fn command(&mut self) -> String {
        match self.random.u8(..8) {
            0 | 1 => self.operand(),
            2 => {
                let (method, count) = (self.one(METHODS), self.random.usize(..3));
                format!(".{method}{}", self.arguments(count))
            }
            3 => {
                let format = format_string::derive(&mut self.random);
                let count = self.random.usize(..4);
                format!("printf \"{format}\"{}", self.arguments(count))
            }
            _ => {
                let (function, count) = (self.one(FUNCTIONS), self.random.usize(..4));
                format!("{function}{}", self.arguments(count))
            }
        }
    }

    fn arguments(&mut self, count: usize) -> String {
        (0..count).map(|_| format!(" {}", self.operand())).collect()
    }

    fn operand(&mut self) -> String {
        match self.random.u8(..20) {
            0..=8 => format!(".{}", self.one(FIELDS)),
            9 => self
                .one(&[".", "$", "true", "false", "nil", "zero"])
                .to_owned(),
            10 => format!(
                "{}{}",
                self.one(VARIABLES),
                self.one(&["", "", ".a", ".m.a"])
            ),
            11 => format!("$.{}", self.one(FIELDS)),
            12..=13 => self.one(NUMBERS).to_owned(),
            14..=15 => self.one(STRINGS).to_owned(),
            _ if self.depth > 4 => ".n".to_owned(),
            _ => {
                self.depth += 1;
                let pipeline = self.pipeline();
                self.depth -= 1;
                let field = self.one(&["", "", "", ".x", ".a", ".Name", ".Self.Name", "."]);
                format!("({pipeline}){field}")
            }
        }
    }
}
