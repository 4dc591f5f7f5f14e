//! Random Jinja templates.
//!
//! What is called, and with which arguments, comes from the signatures of the real Jinja2: a filter, a test, a global
//! function or a method that it gains is called from then on. Expressions mostly have the type that is wanted, so that
//! most templates print something; a part of them has another, so that errors are met as well.

mod calls;
mod expressions;
mod leaves;
mod statements;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::compare::{Case, Grammar};
use crate::signatures::Signatures;
use crate::tree::{Node, Sort};

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
}
