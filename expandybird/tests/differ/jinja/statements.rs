//! Statements: loops, conditions, assignments, macros, includes.

use super::{BODY, Type, WHOLE, Writer};
use crate::tree::Node;

impl Writer<'_> {
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

    pub(super) fn statement(&mut self, depth: usize) -> Node {
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

    pub(super) fn set(&mut self, depth: usize) -> Vec<Node> {
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
}
