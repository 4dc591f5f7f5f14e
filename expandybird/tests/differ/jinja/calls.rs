//! Calls as the signatures of the real Jinja2 have them.

use super::{ARGUMENT, EXPRESSION, Type, UNCERTAIN, Writer, of};
use crate::signatures::{Parameter, ParameterKind, Signature};
use crate::tree::Node;

impl Writer<'_> {
    pub(super) fn filtered(&mut self, wanted: Type, depth: usize) -> Vec<Node> {
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

    pub(super) fn method(&mut self, wanted: Type, depth: usize) -> Vec<Node> {
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

    pub(super) fn global(&mut self) -> Vec<Node> {
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

    pub(super) fn call(&mut self, name: &str, signature: &Signature, depth: usize) -> Vec<Node> {
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
        parameters: &[Parameter],
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
