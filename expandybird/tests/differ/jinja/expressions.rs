//! Expressions of a wanted type, mostly.

use super::{ARGUMENT, EXPRESSION, Type, Writer, of};
use crate::tree::Node;

impl Writer<'_> {
    pub(super) fn arguments_at_random(&mut self) -> Node {
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

    pub(super) fn any_type(&mut self) -> Type {
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

    pub(super) fn expression(&mut self, wanted: Type, depth: usize) -> Node {
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
}
