//! Random YAML 1.1 and JSON.

use fastrand::Rng;

use super::compare::{Case, Grammar};
use super::tree::{Node, Sort};

pub struct Documents;
pub struct Json;

const VALUE: Sort = Sort {
    name: "value",
    least: &["a", "1", "[]"],
};
const LINES: Sort = Sort {
    name: "lines",
    least: &["a\n"],
};
const STREAM: Sort = Sort {
    name: "stream",
    least: &["a\n"],
};
const TEXT: Sort = Sort {
    name: "text",
    least: &["\"\"", "1"],
};
const JSON_TEXT: Sort = Sort {
    name: "json text",
    least: &["\"\""],
};
const JSON_ENTRY: Sort = Sort {
    name: "json entry",
    least: &[],
};
const PIECE: Sort = Sort {
    name: "piece",
    least: &["", "a"],
};

/// Scalars of YAML 1.1 and what is nearly one.
const SCALARS: &[&str] = &[
    "a",
    "b c",
    "~",
    "null",
    "Null",
    "NULL",
    "nULL",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "n",
    "true",
    "False",
    "tRUE",
    "0",
    "-0",
    "+1",
    "12",
    "-12",
    "1_000",
    "_1",
    "1__0",
    "1_",
    "0b11",
    "0b",
    "0b2",
    "-0b1",
    "0x1F",
    "0xg",
    "0x",
    "+0x_1",
    "0755",
    "-017",
    "08",
    "0o17",
    "00",
    "0_7",
    "1:30",
    "22:30:15",
    "1:60",
    "-1:30",
    "+9:59",
    "190:20:30",
    "1:3.5",
    "1.",
    ".5",
    "-.5",
    "1.5",
    "1e3",
    "1.0e3",
    "1.0e+3",
    "1.5E-7",
    "1_0.5_0",
    ".inf",
    "-.INF",
    "+.Inf",
    ".nan",
    ".NaN",
    "._",
    "1.0.0",
    "1e400",
    "1.0e+400",
    "2016-01-01",
    "2016-1-1",
    "2016-01-01T10:00:00Z",
    "2016-1-1 1:02:03.5 +1",
    "2016-13-45",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
    "0.1",
    "100000000000000000000.0",
    "<<",
    "=",
    "-",
    "?",
    "- a",
    ":",
    "a:b",
    "a#b",
    "a #b",
    ".",
    "..",
    "-1",
    "--",
    "é",
    "日本",
    "😀",
    "\u{a0}",
    "!",
    "&",
    "*",
    "'",
    "%",
    "@a",
    "`a",
    "[",
    "{a}",
    "a,b",
    "\\",
    "a\\n",
    "http://x.org/?a=1#b",
    "\u{7f}",
    "1 2",
    "0.0",
    "-0.0",
    "1e1",
    "123456789012345678901234567890",
];

/// What a double-quoted text can hold.
const ESCAPES: &[&str] = &[
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\/",
    "\\0",
    "\\a",
    "\\b",
    "\\e",
    "\\f",
    "\\v",
    "\\r",
    "\\x41",
    "\\u00e9",
    "\\u2028",
    "\\U0001F600",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\ude00",
    "\\N",
    "\\_",
    "\\L",
    "\\P",
    "\\ ",
    "\\q",
    "\\x4",
    "\\u12",
    "\\U00110000",
    "\\\n  ",
    "\n",
    "\n\n",
    " \n ",
    "\\u0000",
    "\\'",
];
const PLAIN: &[&str] = &[
    "a", "b", " ", "é", "😀", "'", "#", ": ", "{", "0", "", "yes", "\\n", "%", "\t",
];

fn one<'t>(rng: &mut Rng, from: &[&'t str]) -> &'t str {
    from[rng.usize(..from.len())]
}

impl Grammar for Documents {
    fn derive(&self, seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let mut yaml = Yaml {
            rng: &mut rng,
            anchors: 0,
        };
        Case(vec![("t.jinja", yaml.stream())])
    }
}

struct Yaml<'r> {
    rng: &'r mut Rng,
    anchors: usize,
}

impl Yaml<'_> {
    fn stream(&mut self) -> Node {
        let count = if self.rng.u8(..6) == 0 { 2 } else { 1 };
        let mut parts = Vec::new();
        for index in 0..count {
            let start = match (self.rng.u8(..12), index) {
                (0, _) => "--- ",
                (1, 0) => "%YAML 1.1\n---\n",
                (2, _) => "\u{feff}",
                (3, _) => "# c\n",
                (4 | 5, _) | (_, 1..) => "---\n",
                _ => "",
            };
            parts.push(Node::text(start));
            let lines = self.lines(0, 4);
            parts.push(lines);
            if self.rng.u8(..10) == 0 {
                parts.push(Node::text("...\n"));
            }
        }
        Node::Of(STREAM, parts)
    }

    /// Lines that are a value, at an indentation.
    fn lines(&mut self, indent: usize, depth: usize) -> Node {
        let kind = self.rng.u8(..if depth == 0 { 2 } else { 10 });
        let parts = match kind {
            0 => vec![Node::text(" ".repeat(indent)), self.flow(2), self.comment()],
            1 => vec![
                Node::text(" ".repeat(indent)),
                self.scalar(),
                self.comment(),
            ],
            2..=4 => self.list(indent, depth),
            _ => self.map(indent, depth),
        };
        Node::Of(LINES, parts)
    }

    fn comment(&mut self) -> Node {
        Node::text(one(
            self.rng,
            &["\n", "\n", "\n", " # c\n", "\n\n", " \n", "#d\n", "\r\n"],
        ))
    }

    fn list(&mut self, indent: usize, depth: usize) -> Vec<Node> {
        let items = (0..self.rng.usize(1..4)).map(|_| {
            let mut parts = vec![Node::text(format!("{}-", " ".repeat(indent)))];
            parts.extend(self.rest(indent, depth));
            Node::Of(PIECE, parts)
        });
        vec![Node::List("", items.collect())]
    }

    fn map(&mut self, indent: usize, depth: usize) -> Vec<Node> {
        let entries = (0..self.rng.usize(1..4)).map(|_| {
            let mut parts = vec![Node::text(" ".repeat(indent))];
            let key = match self.rng.u8(..12) {
                0 => Node::text("<<"),
                1 => self.flow(1),
                2 => Node::text("? "),
                _ => self.scalar(),
            };
            let colon = if key.to_string() == "? " { "a\n:" } else { ":" };
            parts.extend([key, Node::text(colon)]);
            parts.extend(self.rest(indent, depth));
            Node::Of(PIECE, parts)
        });
        vec![Node::List("", entries.collect())]
    }

    /// What stands behind `-` or `key:`.
    fn rest(&mut self, indent: usize, depth: usize) -> Vec<Node> {
        let mut parts = Vec::new();
        match self.rng.u8(..14) {
            0 => {
                self.anchors += 1;
                parts.push(Node::text(format!(" &a{}", self.anchors)));
            }
            1 => parts.push(Node::text(one(
                self.rng,
                &[
                    " !!str",
                    " !!int",
                    " !!float",
                    " !!bool",
                    " !!null",
                    " !!map",
                    " !!seq",
                    " !!set",
                    " !!omap",
                    " !!binary",
                    " !!timestamp",
                    " !!pairs",
                    " !",
                    " !x",
                    " !!merge",
                    " !<tag:yaml.org,2002:str>",
                ],
            ))),
            2 if self.anchors > 0 => {
                let anchor = self.rng.usize(1..=self.anchors);
                return vec![Node::text(format!(" *a{anchor}\n"))];
            }
            _ => {}
        }
        match self.rng.u8(..10) {
            0 => parts.push(Node::text("\n")),
            1 => parts.extend(self.block(indent)),
            2..=5 if depth > 0 => {
                parts.push(Node::text("\n"));
                let deeper = indent + self.rng.usize(0..3);
                parts.push(self.lines(deeper, depth - 1));
            }
            6 => parts.extend([Node::text(" "), self.flow(2), self.comment()]),
            _ => parts.extend([Node::text(" "), self.scalar(), self.comment()]),
        }
        parts
    }

    /// A literal or a folded text.
    fn block(&mut self, indent: usize) -> Vec<Node> {
        let head = format!(
            " {}{}{}\n",
            one(self.rng, &["|", ">"]),
            one(self.rng, &["", "", "", "1", "2", "4"]),
            one(self.rng, &["", "", "-", "+"])
        );
        let lines = (0..self.rng.usize(0..5)).map(|_| {
            let more = self.rng.usize(0..4);
            let text = one(
                self.rng,
                &[
                    "a", "b c", "", "  d", "# e", "- f", "g: h", "\t", "i ", "😀", "\r",
                ],
            );
            Node::text(format!(
                "{}{text}\n",
                " ".repeat(indent + 2 * usize::from(more > 0) + usize::from(more == 3))
            ))
        });
        vec![Node::text(head), Node::List("", lines.collect())]
    }

    fn scalar(&mut self) -> Node {
        let parts = match self.rng.u8(..8) {
            0 | 1 => {
                let pieces = (0..self.rng.usize(0..4)).map(|_| {
                    Node::text(match self.rng.bool() {
                        true => one(self.rng, ESCAPES),
                        false => one(self.rng, PLAIN),
                    })
                });
                vec![
                    Node::text("\""),
                    Node::List("", pieces.collect()),
                    Node::text("\""),
                ]
            }
            2 => {
                let pieces = (0..self.rng.usize(0..4)).map(|_| {
                    Node::text(one(
                        self.rng,
                        &["a", "''", "\\n", "\"", "\n ", " ", ": ", "#", "😀", "1"],
                    ))
                });
                vec![
                    Node::text("'"),
                    Node::List("", pieces.collect()),
                    Node::text("'"),
                ]
            }
            3 => vec![Node::text(number(self.rng))],
            _ => vec![Node::text(one(self.rng, SCALARS))],
        };
        Node::Of(VALUE, parts)
    }

    fn flow(&mut self, depth: usize) -> Node {
        if depth == 0 || self.rng.u8(..3) == 0 {
            return self.scalar();
        }
        let comma = one(self.rng, &[", ", ",", " , ", ",\n  "]);
        let is_map = self.rng.bool();
        let items = (0..self.rng.usize(0..4)).map(|_| {
            let mut parts = vec![self.flow(depth - 1)];
            if is_map || self.rng.u8(..6) == 0 {
                parts.push(Node::text(one(
                    self.rng,
                    &[": ", ": ", ": ", ":", " :", ""],
                )));
                parts.push(self.flow(depth - 1));
            }
            Node::Of(PIECE, parts)
        });
        let items = Node::List(comma, items.collect());
        let (open, close) = if is_map { ("{", "}") } else { ("[", "]") };
        Node::Of(
            VALUE,
            vec![
                Node::text(open),
                items,
                Node::text(one(self.rng, &["", "", "", ",", " "])),
                Node::text(close),
            ],
        )
    }
}

/// Digits and what numbers are made of, in any order.
fn number(rng: &mut Rng) -> String {
    (0..rng.usize(1..8))
        .map(|_| {
            one(
                rng,
                &[
                    "0", "1", "2", "7", "9", "_", ".", "-", "+", "e", "E", ":", "x", "b", "o", "a",
                    "60",
                ],
            )
        })
        .collect()
}

impl Grammar for Json {
    fn derive(&self, seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        Case(vec![("t.jinja", json(&mut rng, 4))])
    }
}

fn json(rng: &mut Rng, depth: usize) -> Node {
    let space = one(rng, &["", "", " ", "\n", "\r\n"]);
    let parts = match rng.u8(..if depth == 0 { 3 } else { 6 }) {
        0 => vec![Node::text(one(
            rng,
            &[
                "0",
                "-1",
                "1.5",
                "-0.0",
                "123456789012",
                "true",
                "false",
                "null",
                "9223372036854775808",
                "2.5E-3",
            ],
        ))],
        1 | 2 => vec![json_text(rng)],
        3 | 4 => {
            let items = (0..rng.usize(0..4)).map(|_| json(rng, depth - 1)).collect();
            vec![
                Node::text("["),
                Node::List(one(rng, &[",", ", ", ",\n  "]), items),
                Node::text("]"),
            ]
        }
        _ => {
            let colon = one(rng, &[":", ": ", " : "]);
            let entries = (0..rng.usize(0..4))
                .map(|_| {
                    Node::Of(
                        JSON_ENTRY,
                        vec![json_text(rng), Node::text(colon), json(rng, depth - 1)],
                    )
                })
                .collect();
            vec![
                Node::text("{"),
                Node::List(one(rng, &[",", ", ", ",\n  "]), entries),
                Node::text("}"),
            ]
        }
    };
    Node::Of(
        TEXT,
        vec![Node::text(space), Node::Of(TEXT, parts), Node::text(space)],
    )
}

fn json_text(rng: &mut Rng) -> Node {
    let pieces = (0..rng.usize(0..5)).map(|_| {
        Node::text(one(
            rng,
            &[
                "a",
                "é",
                "😀",
                " ",
                "'",
                "#",
                ": ",
                "- ",
                "\\n",
                "\\\"",
                "\\\\",
                "\\/",
                "\\b",
                "\\f",
                "\\r",
                "\\t",
                "\\u00e9",
                "\\ud83d\\ude00",
                "\\uD83D\\uDE00",
                "\\u2028",
                "\\ufeff",
                "\\u0000",
                "yes",
                "1",
                "{",
                "\u{2028}",
                "\u{85}",
                "&",
                "*",
                "%",
                "@",
                "<<",
                "=",
            ],
        ))
    });
    Node::Of(
        JSON_TEXT,
        vec![
            Node::text("\""),
            Node::List("", pieces.collect()),
            Node::text("\""),
        ],
    )
}
