//! Random Jinja templates.
//!
//! What is called, and with which arguments, comes from the signatures of the real Jinja2: a filter, a test, a global
//! function or a method that it gains is called from then on. Expressions mostly have the type that is wanted, so that
//! most templates print something; a part of them has another, so that errors are met as well.

use fastrand::Rng;
use serde_json::{Value, json};

use super::compare::{Case, Grammar};
use super::signatures::{ParameterKind, Signature, Signatures};
use super::tree::{Node, Sort};

const EXPRESSION: Sort = Sort {
    name: "expression",
    least: &["1", "''", "[]", "x", "'a'"],
};
const BODY: Sort = Sort {
    name: "body",
    least: &["", "a"],
};
const ARGUMENT: Sort = Sort {
    name: "argument",
    least: &[],
};
const WHOLE: Sort = Sort {
    name: "whole",
    least: &[],
};

/// The two that give another result with every call, and the one that makes links.
const UNCERTAIN: &[&str] = &["random", "lipsum"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Int,
    Float,
    Bool,
    List,
    Map,
    Any,
}

pub struct Templates {
    signatures: Signatures,
}

impl Templates {
    pub fn new(signatures: Signatures) -> Self {
        Self { signatures }
    }
}

pub fn env() -> Value {
    json!({ "name": "web", "type": "t.jinja", "deployment": "d", "project": "p" })
}

pub fn properties() -> Value {
    json!({
        "s": "Hello World", "n": 7, "f": 2.5, "t": true, "none": null, "neg": -3, "big": 9_007_199_254_740_993_i64, "q": "it's",
        "l": [3, 1, 2], "ls": ["b", "a", "C", "A"], "e": [], "ed": {}, "u": "é日本😀", "csv": "a,b,,c", "lines": "a\n b\r\nc\n",
        "m": { "x": 1, "y": "two", "z": [1, { "k": null }], "items": 5 },
        "ml": [{ "name": "a", "v": 2 }, { "name": "B", "v": 1 }, { "name": "b", "v": 1 }, { "name": "A", "v": null }],
        "ll": [[1, "b"], [2, "a"], [1, "C"]], "mixed": [1, "a", null, true, 2.5, []],
        "tree": [{ "n": "r", "c": [{ "n": "x", "c": [] }, { "n": "y", "c": [{ "n": "z", "c": [] }] }] }],
    })
}

/// The files beside the template.
pub fn files() -> Case {
    Case(vec![
        ("t.jinja", Node::text("")),
        (
            "m.jinja",
            Node::text(
                "{% macro res(name, n=1) %}<{{ name }}:{{ n }}>{% endmacro %}{% set v = 5 %}{% set _p = 6 %}\
                 {% macro wrap() %}[{{ caller(1) if caller else 'none' }}{{ varargs }}{{ kwargs }}]{% endmacro %}",
            ),
        ),
        (
            "inc.jinja",
            Node::text("[{{ properties.n }}{{ x }}{{ y }}]\n"),
        ),
        (
            "base.jinja",
            Node::text(
                "A{% block b %}base{{ x }}{% endblock %}Z{% block c scoped %}{{ y }}{% endblock %}{% for i in [1, 2] %}{% block d scoped %}{{ i }}{% endblock %}{% endfor %}",
            ),
        ),
    ])
}

impl Grammar for Templates {
    fn derive(&self, seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let mut writer = Writer {
            rng: &mut rng,
            signatures: &self.signatures,
            loops: 0,
        };
        let mut case = files();
        case.0[0].1 = writer.template();
        if writer.rng.u8(..6) == 0 {
            case.0[2].1 = writer.body(2);
        }
        case
    }
}

struct Writer<'w> {
    rng: &'w mut Rng,
    signatures: &'w Signatures,
    loops: usize,
}

fn of(sort: Sort, parts: impl IntoIterator<Item = Node>) -> Node {
    Node::Of(sort, parts.into_iter().collect())
}

impl Writer<'_> {
    fn one<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.rng.usize(..from.len())]
    }

    fn chance(&mut self, of: u8) -> bool {
        self.rng.u8(..of) == 0
    }

    fn template(&mut self) -> Node {
        match self.rng.u8(..10) {
            0..=4 => {
                let parts = (0..self.rng.usize(1..3)).map(|_| {
                    let wanted = self.any_type();
                    self.print(wanted, 3)
                });
                Node::Of(BODY, parts.collect())
            }
            5 => self.child(),
            _ => self.body(3),
        }
    }

    /// A template that extends another one.
    fn child(&mut self) -> Node {
        let blocks = (0..self.rng.usize(1..3)).map(|_| {
            let name = self.one(&["b", "c", "d", "other"]);
            let body = match self.chance(2) {
                true => of(BODY, [Node::text("[{{ super() }}]")]),
                false => self.body(1),
            };
            let scoped = self.one(&["", "", " scoped"]);
            of(
                BODY,
                [
                    Node::text(format!("{{% block {name}{scoped} %}}")),
                    body,
                    Node::text("{% endblock %}"),
                ],
            )
        });
        let blocks = Node::List("", blocks.collect());
        // What is printed outside of the blocks is not even computed there: a statement that prints nothing.
        let before = Node::Of(BODY, self.set(0));
        of(
            BODY,
            [Node::text("{% extends 'base.jinja' %}"), before, blocks],
        )
    }

    fn body(&mut self, depth: usize) -> Node {
        let parts = (0..self.rng.usize(1..4)).map(|_| match self.rng.u8(..6) {
            0 => Node::text(self.one(&[
                "a", " ", "\n", "b\n", "\r\n", "  x  ", "\n\n", "é", "😀", "}", "{", "#", "- k: ",
                "\t", "'", "\r",
            ])),
            1 | 2 => {
                let wanted = self.any_type();
                self.print(wanted, 2)
            }
            _ if depth == 0 => Node::text("."),
            _ => self.statement(depth - 1),
        });
        of(BODY, [Node::List("", parts.collect())])
    }

    fn marks(&mut self) -> (&'static str, &'static str) {
        let open = if self.chance(12) {
            "-"
        } else if self.chance(24) {
            "+"
        } else {
            ""
        };
        let close = if self.chance(12) { "-" } else { "" };
        (open, close)
    }

    fn print(&mut self, wanted: Type, depth: usize) -> Node {
        let (open, close) = self.marks();
        let expression = self.expression(wanted, depth);
        of(
            BODY,
            [
                Node::text(format!("{{{{{open} ")),
                expression,
                Node::text(format!(" {close}}}}}")),
            ],
        )
    }

    /// `{% head %}`, with the parts of the head.
    fn tag(&mut self, head: Vec<Node>) -> Node {
        let (open, close) = self.marks();
        let mut parts = vec![Node::text(format!("{{%{open} "))];
        parts.extend(head);
        parts.push(Node::text(format!(" {close}%}}")));
        Node::Of(WHOLE, parts)
    }

    fn end(&mut self, name: &str) -> Node {
        self.tag(vec![Node::text(name)])
    }

    fn statement(&mut self, depth: usize) -> Node {
        let parts = match self.rng.u8(..24) {
            0..=4 => self.set(depth),
            5..=8 => self.loop_over(depth),
            9..=11 => self.condition(depth),
            12 | 13 => self.macro_and_call(depth),
            14 => {
                let name = self.one(&[
                    "upper",
                    "trim",
                    "indent(2)",
                    "replace('a', 'b')",
                    "length",
                    "title",
                    "e",
                ]);
                vec![
                    self.tag(vec![Node::text(format!("filter {name}"))]),
                    self.body(depth),
                    self.end("endfilter"),
                ]
            }
            15 => {
                let value = self.expression(Type::Any, 1);
                let other = self.expression(Type::Any, 1);
                let head = vec![Node::text("with x = "), value, Node::text(", y = "), other];
                vec![self.tag(head), self.body(depth), self.end("endwith")]
            }
            16 => {
                let name = self.one(&[
                    "'inc.jinja'",
                    "'none.jinja' ignore missing",
                    "['none.jinja', 'inc.jinja']",
                    "'none.jinja'",
                    "'inc.jinja' with context",
                ]);
                vec![self.tag(vec![Node::text(format!("include {name}"))])]
            }
            17 => {
                let head = self.one(&[
                    "import 'm.jinja' as m",
                    "from 'm.jinja' import res, v as x",
                    "from 'm.jinja' import wrap as res with context",
                ]);
                let use_of = self.one(&[
                    "{{ m.res('a') }}",
                    "{{ res(x, n=2) }}",
                    "{{ m.v }}{{ v }}",
                    "{% call(u) m.wrap(1, a=2) %}{{ u }}{% endcall %}",
                    "{{ m._p }}",
                ]);
                vec![self.tag(vec![Node::text(head)]), Node::text(use_of)]
            }
            18 => {
                let name = self.one(&["p", "q", "r"]);
                vec![
                    self.tag(vec![Node::text(format!("block {name}"))]),
                    self.body(depth),
                    self.end("endblock"),
                ]
            }
            19 => vec![Node::text(self.one(&[
                "{# c #}",
                "{#- c -#}",
                "{% raw %}{{ x }}{% endraw %}",
                "{%- raw -%} {% {% endraw %}",
                "{{ '{{' }}",
                "{% raw %}\n{% endraw %}\n",
                "{% if true %}\n{% endif %}\n",
                "{# {{ 1 }} #}\n",
            ]))],
            20 => {
                let expression = self.expression(Type::List, 1);
                vec![self.tag(vec![
                    Node::text("do "),
                    expression,
                    Node::text(".append(1)"),
                ])]
            }
            21 if self.loops > 0 => vec![
                self.tag(vec![Node::text("if loop.index == 2")]),
                Node::text("{% break %}"),
                self.end("endif"),
            ],
            22 if self.loops > 0 => vec![
                self.tag(vec![Node::text("if loop.first")]),
                Node::text("{% continue %}"),
                self.end("endif"),
            ],
            _ => {
                let wanted = self.any_type();
                return self.print(wanted, 2);
            }
        };
        Node::Of(BODY, parts)
    }

    fn set(&mut self, depth: usize) -> Vec<Node> {
        let name = self.one(&["x", "y", "z"]);
        match self.rng.u8(..8) {
            0 => {
                let filter = self.one(&["", "", " | upper", " | trim | length"]);
                vec![
                    self.tag(vec![Node::text(format!("set {name}{filter}"))]),
                    self.body(depth),
                    self.end("endset"),
                ]
            }
            1 => {
                let (a, b) = (self.expression(Type::Any, 1), self.expression(Type::Any, 1));
                vec![self.tag(vec![Node::text("set x, y = "), a, Node::text(", "), b])]
            }
            2 => {
                let value = self.expression(Type::Any, 1);
                let target = self.one(&["ns.a", "ns.b", "ns.items"]);
                vec![
                    Node::text("{% set ns = namespace(a=1) %}"),
                    self.tag(vec![Node::text(format!("set {target} = ")), value]),
                    Node::text(format!("{{{{ {target} }}}}")),
                ]
            }
            _ => {
                let wanted = self.any_type();
                let value = self.expression(wanted, 2);
                vec![self.tag(vec![Node::text(format!("set {name} = ")), value])]
            }
        }
    }

    fn loop_over(&mut self, depth: usize) -> Vec<Node> {
        let (target, over) = match self.rng.u8(..6) {
            0 => (
                "k, v",
                self.one(&[
                    "properties.m.items()",
                    "properties.m|dictsort",
                    "properties.m|items",
                    "{'a': 1, 'b': [2]}.items()",
                ])
                .to_owned(),
            ),
            1 => (
                "i, x",
                self.one(&[
                    "properties.ll",
                    "properties.ml|groupby('v')",
                    "[(1, 2), (3, 4)]",
                    "[[1, 2, 3]]",
                ])
                .to_owned(),
            ),
            2 => return self.recursive(),
            _ => ("i", String::new()),
        };
        let over = if over.is_empty() {
            self.expression(Type::List, 2)
        } else {
            Node::text(over)
        };
        let mut head = vec![Node::text(format!("for {target} in ")), over];
        if self.chance(4) {
            head.push(Node::text(" if "));
            head.push(self.expression(Type::Bool, 1));
        }
        self.loops += 1;
        let mut parts = vec![self.tag(head)];
        if self.chance(2) {
            parts.push(Node::text(self.one(&[
                "{{ i }}",
                "{{ i }},",
                "{{ loop.index }}/{{ loop.length }}",
                "{{ loop.revindex0 }}{{ loop.revindex }}",
                "{{ loop.first }}{{ loop.last }}",
                "{{ loop.cycle('a', 'b') }}",
                "{{ loop.previtem }}|{{ loop.nextitem }}",
                "{{ loop.changed(i) }}",
                "{{ loop.index0 }}{{ loop.depth }}",
                "{{ k }}={{ v }}",
                "{{ loop.cycle() }}",
                "{{ loop.nope }}",
            ])));
        }
        parts.push(self.body(depth));
        self.loops -= 1;
        if self.chance(5) {
            parts.push(self.end("else"));
            parts.push(self.body(depth.min(1)));
        }
        parts.push(self.end("endfor"));
        parts
    }

    fn recursive(&mut self) -> Vec<Node> {
        let inside = self.one(&[
            "{{ loop(i.c) }}",
            "{{ loop.depth }}{{ loop(i.c) if i.c }}",
            "{{ loop(i.c)|upper }}",
            "{% if i.c %}({{ loop(i.c) }}){% endif %}",
        ]);
        vec![Node::text(format!(
            "{{% for i in properties.tree recursive %}}{{{{ i.n }}}}{inside}{{% endfor %}}"
        ))]
    }

    fn condition(&mut self, depth: usize) -> Vec<Node> {
        let condition = self.expression(Type::Bool, 2);
        let mut parts = vec![
            self.tag(vec![Node::text("if "), condition]),
            self.body(depth),
        ];
        if self.chance(3) {
            let condition = self.expression(Type::Bool, 1);
            parts.push(self.tag(vec![Node::text("elif "), condition]));
            parts.push(self.body(depth));
        }
        if self.chance(2) {
            parts.push(self.end("else"));
            parts.push(self.body(depth));
        }
        parts.push(self.end("endif"));
        parts
    }

    fn macro_and_call(&mut self, depth: usize) -> Vec<Node> {
        let parameters = self.one(&[
            "",
            "a",
            "a, b",
            "a, b=2",
            "a=1, b='x'",
            "a, b=a",
            "a, b=[], c=none",
        ]);
        let inside = self.one(&[
            "{{ a }}",
            "{{ a }}{{ b }}",
            "{{ varargs }}",
            "{{ kwargs }}",
            "{{ caller() }}",
            "{{ caller is defined }}",
            "{{ a|default('d') }}",
            "{{ b }}{{ varargs|length }}",
        ]);
        let open = self.tag(vec![Node::text(format!("macro m({parameters})"))]);
        let mut parts = vec![
            open,
            Node::text(inside),
            self.body(depth.min(1)),
            self.end("endmacro"),
        ];
        let arguments = self.arguments_at_random();
        if self.chance(3) {
            let names = self.one(&["", "", "(u)", "(u, v=1)"]);
            parts.push(self.tag(vec![
                Node::text(format!("call{names} m(")),
                arguments,
                Node::text(")"),
            ]));
            parts.extend([self.body(depth.min(1)), self.end("endcall")]);
        } else {
            parts.extend([Node::text("{{ m("), arguments, Node::text(") }}")]);
        }
        if self.chance(8) {
            parts.push(Node::text(self.one(&[
                "{{ m.name }}",
                "{{ m.arguments }}",
                "{{ m.catch_kwargs }}{{ m.catch_varargs }}",
                "{{ m.caller }}",
            ])));
        }
        parts
    }

    fn arguments_at_random(&mut self) -> Node {
        let mut arguments: Vec<Node> = (0..self.rng.usize(0..3))
            .map(|_| of(ARGUMENT, [self.expression(Type::Any, 1)]))
            .collect();
        if self.chance(3) {
            let name = self.one(&["a", "b", "c", "nope"]);
            let value = self.expression(Type::Any, 1);
            arguments.push(of(ARGUMENT, [Node::text(format!("{name}=")), value]));
        }
        if self.chance(10) {
            arguments.push(Node::text(self.one(&[
                "*[1, 2]",
                "**{'a': 1}",
                "*properties.l",
            ])));
        }
        Node::List(", ", arguments)
    }

    fn any_type(&mut self) -> Type {
        let all = [
            Type::Text,
            Type::Int,
            Type::Float,
            Type::Bool,
            Type::List,
            Type::Map,
            Type::Any,
        ];
        all[self.rng.usize(..all.len())]
    }

    fn expression(&mut self, wanted: Type, depth: usize) -> Node {
        let wanted = match wanted {
            Type::Any => self.any_type(),
            _ if self.chance(14) => self.any_type(),
            wanted => wanted,
        };
        if depth == 0 {
            return of(EXPRESSION, [Node::text(self.leaf(wanted))]);
        }
        let parts = match self.rng.u8(..20) {
            0..=3 => vec![Node::text(self.leaf(wanted))],
            4..=9 => self.filtered(wanted, depth - 1),
            10..=12 => self.method(wanted, depth - 1),
            13 => {
                let (a, test, b) = (
                    self.expression(wanted, depth - 1),
                    self.expression(Type::Bool, depth - 1),
                    self.expression(wanted, depth - 1),
                );
                let mut parts = vec![Node::text("("), a, Node::text(" if "), test];
                if !self.chance(5) {
                    parts.extend([Node::text(" else "), b]);
                }
                parts.push(Node::text(")"));
                parts
            }
            14 => vec![
                Node::text("("),
                self.expression(wanted, depth - 1),
                Node::text(self.one(&[" or ", " and "])),
                self.expression(wanted, depth - 1),
                Node::text(")"),
            ],
            15 => self.subscript(depth - 1),
            16 => self.global(),
            _ => self.operation(wanted, depth - 1),
        };
        Node::Of(EXPRESSION, parts)
    }

    fn leaf(&mut self, wanted: Type) -> String {
        let leaf = match wanted {
            Type::Text => self.one(&[
                "'abc'",
                "''",
                "'a b  c'",
                "properties.s",
                "properties.u",
                "properties.q",
                "properties.csv",
                "properties.lines",
                "env.name",
                "'12'",
                "'-7.5'",
                "'Foo-bar baz_Qux'",
                "'%s-%d'",
                "'{}'",
                "'<a href=\"x\">&amp;</a>'",
                "'a\\nb'",
                "' x '",
                "\"it's\"",
                "'x' 'y'",
                "'ß'",
                "'0x1f'",
                "'1_000'",
                "'é'",
                "'a\\tb'",
                "'%'",
                "'foo bar baz qux quux corge'",
                "'\\\\'",
                "'A'",
                "'true'",
                "'http://x.org/a?b=c'",
                "'\\u00e9'",
                "'\\x41'",
                "'aXbXc'",
            ]),
            Type::Int => self.one(&[
                "0",
                "1",
                "-1",
                "2",
                "3",
                "7",
                "properties.n",
                "properties.neg",
                "properties.big",
                "100",
                "1_000",
                "0x1f",
                "0b11",
                "0o17",
                "12345678901234567890",
                "255",
            ]),
            Type::Float => self.one(&[
                "0.5",
                "1.0",
                "-2.5",
                "properties.f",
                "1e3",
                "1.5e300",
                "0.1",
                "2.675",
                "1e-7",
                "1e16",
                "123456.789",
                "-0.0",
                "1.0e+2",
            ]),
            Type::Bool => self.one(&[
                "true",
                "false",
                "properties.t",
                "True",
                "False",
                "1 == 1",
                "none",
                "x is defined",
            ]),
            Type::List => self.one(&[
                "[]",
                "[1, 2, 3]",
                "properties.l",
                "properties.ls",
                "properties.ml",
                "properties.ll",
                "['a', 'B', 'b']",
                "(1, 2)",
                "()",
                "('a',)",
                "[1, 'a', none]",
                "range(4)",
                "[[1, 2], [3]]",
                "properties.e",
                "[true, 1, 1.0]",
                "[3, 1, 2]",
                "properties.mixed",
                "['a', 'a', 'A']",
                "[0.5, 1]",
                "range(1, 10, 3)",
            ]),
            Type::Map => self.one(&[
                "{}",
                "{'a': 1, 'b': 'x'}",
                "properties.m",
                "properties.ed",
                "{'x': none, 'A': [1]}",
                "{1: 'x', 'k': {'l': 2}}",
                "env",
                "dict(a=1)",
                "{'b': 1, 'a': 2, 'C': 0}",
            ]),
            Type::Any => self.one(&[
                "none",
                "x",
                "y",
                "nope",
                "properties.nope",
                "none",
                "loop",
                "namespace(a=1)",
                "properties.m.z",
            ]),
        };
        if self.chance(25) {
            return self
                .one(&[
                    "x",
                    "y",
                    "i",
                    "nope",
                    "properties.nope",
                    "none",
                    "properties.m.nope",
                    "namespace()",
                ])
                .to_owned();
        }
        leaf.to_owned()
    }

    fn subscript(&mut self, depth: usize) -> Vec<Node> {
        let wanted = [Type::Text, Type::List, Type::List, Type::Map][self.rng.usize(..4)];
        let value = self.expression(wanted, depth);
        let at = match self.rng.u8(..8) {
            0 => self
                .one(&[
                    "[0]", "[-1]", "[99]", "[true]", "['x']", "[none]", "[1.0]", ".0", "['a']",
                    "[-99]",
                ])
                .to_owned(),
            1 => self
                .one(&[".x", ".a", ".name", ".nope", ".items", "['items']", ".y.z"])
                .to_owned(),
            _ => {
                let mut slice = (0..self.rng.usize(2..4)).map(|_| {
                    self.one(&[
                        "", "", "1", "-1", "0", "2", "-2", "99", "-99", "none", "3", "-3", "true",
                    ])
                });
                format!("[{}]", slice.by_ref().collect::<Vec<_>>().join(":"))
            }
        };
        vec![value, Node::text(at)]
    }

    fn operation(&mut self, wanted: Type, depth: usize) -> Vec<Node> {
        let (left, operator, right) = match wanted {
            Type::Text => match self.rng.u8(..4) {
                0 => (Type::Text, " + ", Type::Text),
                1 => (Type::Text, " * ", Type::Int),
                2 => (Type::Text, " % ", Type::Any),
                _ => (Type::Any, " ~ ", Type::Any),
            },
            Type::Int | Type::Float => {
                let operator = self.one(&[
                    " + ", " - ", " * ", " / ", " // ", " % ", " ** ", " + ", " - ", "-", "+", "/",
                    "*",
                ]);
                let small = if operator == " ** " {
                    Type::Bool
                } else {
                    wanted
                };
                let right = [Type::Int, small][self.rng.usize(..2)];
                (
                    wanted,
                    operator,
                    if operator == " ** " { small } else { right },
                )
            }
            Type::List => [
                (Type::List, " + ", Type::List),
                (Type::List, " * ", Type::Bool),
            ][self.rng.usize(..2)],
            _ => match self.rng.u8(..4) {
                0 => {
                    let wanted = self.any_type();
                    (
                        wanted,
                        self.one(&[" == ", " != ", " < ", " <= ", " > ", " >= "]),
                        wanted,
                    )
                }
                1 => (
                    Type::Any,
                    self.one(&[" in ", " not in "]),
                    [Type::List, Type::Text, Type::Map][self.rng.usize(..3)],
                ),
                2 => {
                    let not = self.one(&["not ", "not not ", "-", "+", "- "]);
                    let wanted = if not.starts_with('n') {
                        Type::Bool
                    } else {
                        Type::Int
                    };
                    return vec![Node::text(not), self.expression(wanted, depth)];
                }
                _ => return self.tested(depth),
            },
        };
        let (left, right) = (self.expression(left, depth), self.expression(right, depth));
        let mut parts = vec![left, Node::text(operator), right];
        if self.chance(6) {
            let operator = self.one(&[" + ", " ~ ", " * ", " - ", " == ", " < ", " in ", " % "]);
            parts.extend([Node::text(operator), self.expression(wanted, depth)]);
        }
        if self.chance(3) {
            parts.insert(0, Node::text("("));
            parts.push(Node::text(")"));
        }
        parts
    }

    fn tested(&mut self, depth: usize) -> Vec<Node> {
        let tests = &self.signatures["tests"];
        let names: Vec<&String> = tests
            .keys()
            .filter(|name| name.chars().all(char::is_alphanumeric))
            .collect();
        let name = names[self.rng.usize(..names.len())].clone();
        let signature = tests[&name].clone();
        let value = self.expression(Type::Any, depth);
        let not = self.one(&[" is ", " is ", " is not "]);
        let mut parts = vec![value, Node::text(format!("{not}{name}"))];
        parts.extend(self.call(&name, &signature, depth));
        parts
    }

    fn filtered(&mut self, wanted: Type, depth: usize) -> Vec<Node> {
        let filters = &self.signatures["filters"];
        let names: Vec<&String> = filters
            .keys()
            .filter(|name| !UNCERTAIN.contains(&name.as_str()))
            .collect();
        // Any filter, and more often one that gives what is wanted.
        let mut name = names[self.rng.usize(..names.len())].clone();
        for _ in 0..3 {
            if filter_result(&name) == wanted {
                break;
            }
            name = names[self.rng.usize(..names.len())].clone();
        }
        let signature = filters[&name].clone();
        let value = self.expression(filter_input(&name), depth);
        let (open, close) = if self.chance(3) { ("", "") } else { ("(", ")") };
        let mut parts = vec![
            Node::text(open),
            value,
            Node::text(format!("{close}|{name}")),
        ];
        parts.extend(match name.as_str() {
            "map" | "select" | "reject" | "selectattr" | "rejectattr" => {
                vec![self.mapped(&name, depth)]
            }
            _ => self.call(&name, &signature, depth),
        });
        if signature.generator {
            parts.push(Node::text(self.one(&[
                "|list",
                "|list",
                "|join(',')",
                "|list|first",
            ])));
        }
        parts
    }

    /// The arguments of a filter that takes the name of another one.
    fn mapped(&mut self, name: &str, depth: usize) -> Node {
        let attribute = self.one(&["'name'", "'v'", "0", "'0'", "'x.y'", "1", "'n'"]);
        match (name, self.rng.u8(..4)) {
            ("map", 0) => Node::text(format!("(attribute={attribute})")),
            ("map", 1) => Node::text(format!("(attribute={attribute}, default='d')")),
            ("select" | "reject", 0) => Node::text(""),
            ("selectattr" | "rejectattr", 0) => Node::text(format!("({attribute})")),
            ("map", _) => {
                let filters = &self.signatures["filters"];
                let names: Vec<&String> = filters
                    .keys()
                    .filter(|name| !UNCERTAIN.contains(&name.as_str()) && !filters[*name].generator)
                    .collect();
                let inner = names[self.rng.usize(..names.len())].clone();
                let signature = filters[&inner].clone();
                self.passed_on(&format!("'{inner}'"), &inner, &signature, depth)
            }
            _ => {
                let tests = &self.signatures["tests"];
                let names: Vec<&String> = tests.keys().collect();
                let inner = names[self.rng.usize(..names.len())].clone();
                let signature = tests[&inner].clone();
                let first = if name.ends_with("attr") {
                    format!("{attribute}, '{inner}'")
                } else {
                    format!("'{inner}'")
                };
                self.passed_on(&first, &inner, &signature, depth)
            }
        }
    }

    fn passed_on(&mut self, first: &str, inner: &str, signature: &Signature, depth: usize) -> Node {
        let mut arguments = vec![Node::text(first)];
        arguments.extend(self.given(inner, &signature.parameters, 1, depth));
        of(
            ARGUMENT,
            [
                Node::text("("),
                Node::List(", ", arguments),
                Node::text(")"),
            ],
        )
    }

    fn method(&mut self, wanted: Type, depth: usize) -> Vec<Node> {
        let (kind, owner) = match wanted {
            Type::List => [
                ("list", Type::List),
                ("str", Type::Text),
                ("dict", Type::Map),
            ][self.rng.usize(..3)],
            Type::Map => ("dict", Type::Map),
            _ => [
                ("str", Type::Text),
                ("str", Type::Text),
                ("list", Type::List),
                ("dict", Type::Map),
            ][self.rng.usize(..4)],
        };
        let methods = &self.signatures[kind];
        let names: Vec<&String> = methods.keys().collect();
        let name = names[self.rng.usize(..names.len())].clone();
        let signature = methods[&name].clone();
        let value = self.expression(owner, depth);
        let arguments = self.given(&name, &signature.parameters, 1, depth);
        let mut parts = vec![
            Node::text("("),
            value,
            Node::text(format!(").{name}(")),
            Node::List(", ", arguments),
            Node::text(")"),
        ];
        if kind == "dict" && ["keys", "values", "items"].contains(&name.as_str()) {
            parts.push(Node::text("|list"));
        }
        parts
    }

    fn global(&mut self) -> Vec<Node> {
        let call = self.one(&[
            "range(3)",
            "range(1, 4)",
            "range(5, 0, -2)",
            "dict(a=1, b=2)",
            "dict([('a', 1)])",
            "dict({'a': 1}, b=2)",
            "namespace(a=1).a",
            "cycler('a', 'b').next()",
            "cycler(1, 2).current",
            "joiner(', ')()",
            "joiner(sep='x')()",
            "range(0)",
            "range(2, 2)",
            "dict(**{'a': 1})",
            "range(start=1)",
            "cycler()",
        ]);
        vec![Node::text(call)]
    }

    fn call(&mut self, name: &str, signature: &Signature, depth: usize) -> Vec<Node> {
        let arguments = self.given(name, &signature.parameters, 1, depth);
        match arguments.is_empty() {
            true => Vec::new(),
            false => vec![of(
                ARGUMENT,
                [
                    Node::text("("),
                    Node::List(", ", arguments),
                    Node::text(")"),
                ],
            )],
        }
    }

    /// Arguments as the signature takes them: by place or by name, some left out; now and then one too many.
    fn given(
        &mut self,
        name: &str,
        parameters: &[super::signatures::Parameter],
        from: usize,
        depth: usize,
    ) -> Vec<Node> {
        let mut arguments = Vec::new();
        let mut by_place = true;
        for parameter in parameters.iter().skip(from) {
            let is_optional = parameter.default.is_some();
            if is_optional && self.chance(2) {
                by_place = false;
                continue;
            }
            match parameter.kind {
                ParameterKind::VarPositional => {
                    for _ in 0..self.rng.usize(0..4) {
                        arguments
                            .push(of(ARGUMENT, [self.value_for(name, &parameter.name, depth)]));
                    }
                }
                ParameterKind::VarKeyword if self.chance(2) => {
                    let value = self.expression(Type::Any, depth);
                    arguments.push(of(ARGUMENT, [Node::text("a="), value]));
                }
                ParameterKind::VarKeyword => {}
                ParameterKind::PositionalOnly if !by_place => {}
                kind => {
                    by_place &= kind != ParameterKind::KeywordOnly
                        && (kind == ParameterKind::PositionalOnly || !self.chance(3));
                    let value = self.value_for(name, &parameter.name, depth);
                    let keyword = if by_place {
                        String::new()
                    } else {
                        format!("{}=", parameter.name)
                    };
                    arguments.push(of(ARGUMENT, [Node::text(keyword), value]));
                }
            }
        }
        if self.chance(40) {
            arguments.push(Node::text(self.one(&["nope=1", "1", "none"])));
        }
        arguments
    }

    /// A value that the parameter mostly takes.
    fn value_for(&mut self, call: &str, parameter: &str, depth: usize) -> Node {
        let text = match parameter {
            "attribute" => self.one(&[
                "'name'", "'v'", "'n'", "0", "1", "'0'", "'v,name'", "none", "'x'", "-1",
            ]),
            "width" | "length" | "linecount" | "slices" | "count" | "maxsplit" | "tabsize"
            | "precision" | "leeway" | "indent" | "index" | "start" | "stop" | "n"
            | "trim_url_limit" => self.one(&[
                "0", "1", "2", "3", "5", "10", "-1", "true", "none", "'> '", "2.0", "-2",
            ]),
            "base" => self.one(&["2", "8", "10", "16", "0", "36", "7"]),
            "num" => self.one(&["1", "2", "3", "0", "2.5"]),
            "method" => self.one(&["'common'", "'ceil'", "'floor'", "'x'"]),
            "by" => self.one(&["'key'", "'value'", "'x'"]),
            "sep" | "chars" | "old" | "new" | "d" | "end" | "fillchar" | "prefix" | "suffix"
            | "wrapstring" => self.one(&[
                "'a'", "'b'", "','", "' '", "''", "'o'", "'ab'", "none", "'xyz'", "'é'", "1",
                "'\\n'",
            ]),
            "reverse" | "case_sensitive" | "boolean" | "killwords" | "first" | "blank"
            | "keepends" | "binary" | "autospace" | "break_long_words" | "break_on_hyphens" => {
                self.one(&["true", "false", "1", "''", "none"])
            }
            "table" => "{97: 'x', 98: none}",
            "args" => match call {
                "count" | "find" | "rfind" | "index" | "rindex" | "startswith" | "endswith" => self
                    .one(&[
                        "'a'",
                        "'o'",
                        "1",
                        "0",
                        "-1",
                        "3",
                        "none",
                        "'l'",
                        "('a', 'H')",
                    ]),
                _ => return self.expression(Type::Any, depth),
            },
            _ => return self.expression(Type::Any, depth),
        };
        of(EXPRESSION, [Node::text(text)])
    }
}

/// What a filter mostly takes; of one that is not listed, nobody knows.
fn filter_input(name: &str) -> Type {
    match name {
        "abs" | "round" | "filesizeformat" => Type::Float,
        "batch" | "join" | "map" | "max" | "min" | "reject" | "rejectattr" | "select"
        | "selectattr" | "slice" | "sort" | "sum" | "unique" | "groupby" | "first" | "last"
        | "reverse" | "list" | "length" | "count" => Type::List,
        "dictsort" | "items" | "xmlattr" => Type::Map,
        "capitalize" | "center" | "escape" | "e" | "forceescape" | "format" | "indent" | "int"
        | "float" | "lower" | "replace" | "striptags" | "title" | "trim" | "truncate" | "upper"
        | "urlencode" | "wordcount" | "wordwrap" => Type::Text,
        _ => Type::Any,
    }
}

fn filter_result(name: &str) -> Type {
    match name {
        "abs" | "round" | "float" => Type::Float,
        "int" | "length" | "count" | "wordcount" => Type::Int,
        "batch" | "map" | "reject" | "rejectattr" | "select" | "selectattr" | "slice" | "sort"
        | "unique" | "groupby" | "reverse" | "list" | "dictsort" | "items" => Type::List,
        "max" | "min" | "sum" | "first" | "last" | "default" | "d" | "attr" => Type::Any,
        _ => Type::Text,
    }
}
