//! Statements whose structure must be rewritten, not only their expressions.
//!
//! - `set NAMES = VALUE`: the value becomes a copy of the template;
//! - `for NAMES in VALUE`: the value too, and it may be a tuple without brackets;
//! - `macro`: one that mentions `varargs` or `kwargs` gets them as parameters, and a wrapper fills them. A default is
//!   evaluated in the body if its argument is missing: minijinja evaluates the last default first, and replaces
//!   undefined arguments too;
//! - `set NAME`, `filter`, the `else` of a loop: their assignments stay local ([`super::blocks`]);
//! - `with a = 1, b = 2`: a value does not see the other names.

use super::STEP;
use super::blocks::{self, Blocks};
use super::edits::{Edits, Rank};
use super::tokens::{Kind, Token};
use crate::engine::jinja::operators::{EACH, EACH_TUPLE, LATER, OWN, VARIADIC};
use crate::engine::jinja::signature::variadic::MISSING;

/// The prefix of the names of a `with` block while its values are computed.
const OUTER: &str = "__outer_";

/// A parsed statement: `{% … %}`.
pub struct Statement<'t> {
    /// The tokens outside of brackets.
    pub tokens: &'t [Token],
    /// The tokens in the last brackets.
    pub bracketed: &'t [Token],
    /// The position before its `{%`.
    pub start: usize,
    /// The position after its `%}`.
    pub end: usize,
    /// `-` if it removes the white space after it.
    pub strip: &'static str,
}

/// The open blocks, and more about macros and `with` blocks.
#[derive(Debug, Default)]
pub struct Statements {
    blocks: Blocks,
    macros: Vec<Macro>,
    /// Whether two blocks replace the written one.
    withs: Vec<bool>,
}

#[derive(Debug)]
struct Macro {
    name: String,
    /// The position of the bracket after its parameters.
    close: usize,
    has_parameters: bool,
    takes_rest: bool,
    takes_names: bool,
    has_defaults: bool,
    takes_caller: bool,
}

impl Statements {
    /// A name in an expression.
    pub fn mention(&mut self, name: &str) {
        self.blocks.mention(name);
        // A macro takes what a macro within it mentions.
        for open in &mut self.macros {
            open.takes_rest |= name == "varargs";
            open.takes_names |= name == "kwargs";
            open.takes_caller |= name == "caller";
        }
    }

    pub fn read(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        self.blocks.before(source, statement, edits);
        self.structure(source, statement, edits);
        self.blocks.after(source, statement, edits);
    }

    fn structure(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let Some(first) = statement.tokens.first() else {
            return;
        };
        match first.of(source) {
            "set" => assignment(source, statement.tokens, edits),
            "for" => iteration(source, statement.tokens, edits),
            "macro" => self.open(source, statement, edits),
            "endmacro" => self.close(source, statement, edits),
            "with" => self.withs.push(with(source, statement, edits)),
            "endwith" if self.withs.pop() == Some(true) => {
                edits.insert(
                    statement.end,
                    &format!("{{% endwith {}%}}", statement.strip),
                );
            }
            _ => {}
        }
    }

    fn open(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let [_, name, .., close] = statement.tokens else {
            return;
        };
        self.macros.push(Macro {
            name: name.of(source).to_owned(),
            close: close.start,
            has_parameters: !statement.bracketed.is_empty(),
            takes_rest: false,
            takes_names: false,
            has_defaults: false,
            takes_caller: false,
        });
        let mut later = String::new();
        for parameter in statement.bracketed.split(|token| token.of(source) == ",") {
            if let [name, equals, .., last] = parameter {
                let (name, value) = (name.of(source), &source[equals.end..last.end]);
                later.push_str(&format!(
                    "{{% if '{name}' in {MISSING} %}}{{% set {name} = {value} %}}{{% endif %}}"
                ));
                let lines = "\n".repeat(value.matches('\n').count());
                edits.supersede(equals.end, last.end, &format!(" {LATER}{lines}"));
            }
        }
        if let Some(open) = self.macros.last_mut() {
            open.has_defaults = !later.is_empty();
        }
        // A macro that calls itself is a loop, so it takes a step that checks the limits.
        let step = format!(
            "{}{}}}}}",
            &STEP[..STEP.len() - "}}".len()],
            statement.strip
        );
        edits.insert(statement.end, &step);
        if !later.is_empty() {
            let open = later.len() - "%}".len();
            let text = format!("{}{}%}}", &later[..open], statement.strip);
            edits.insert(statement.end, &super::rewrite(&text));
        }
    }

    fn close(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let Some(closed) = self.macros.pop() else {
            return;
        };
        if closed.takes_caller {
            // minijinja looks for it only in the macro itself.
            let strip = blocks::strip(source, statement.start);
            edits.insert(
                statement.start,
                &format!("{{%{strip} if caller %}}{{% endif %}}"),
            );
        }
        if !(closed.takes_rest || closed.takes_names || closed.has_defaults) {
            return;
        }
        let missing = format!("{MISSING}=()");
        let added = [
            (closed.takes_rest, "varargs=()"),
            (closed.takes_names, "kwargs={}"),
            (closed.has_defaults, &*missing),
        ];
        let added = added.iter().filter(|(is_taken, _)| *is_taken);
        let added: Vec<&str> = added.map(|(_, parameter)| *parameter).collect();
        let comma = if closed.has_parameters { ", " } else { "" };
        let added = format!("{comma}{}", added.join(", "));
        edits.put(closed.close, Rank::Literal, 0, &added);
        let (name, strip) = (&closed.name, statement.strip);
        edits.insert(
            statement.end,
            &format!("{{% set {name} = {VARIADIC}({name}) {strip}%}}"),
        );
    }
}

/// `with a = 1, b = a`: each value uses the names outside, so they are assigned in a block of their own. Returns
/// whether they are.
fn with(source: &str, statement: &Statement<'_>, edits: &mut Edits) -> bool {
    let Some((_, assignments)) = statement.tokens.split_first() else {
        return false;
    };
    let assignments = assignments.split(|token| token.of(source) == ",");
    let names = assignments.map(|assignment| match assignment {
        [name, equals, _, ..] if equals.of(source) == "=" => Some(*name),
        _ => None,
    });
    let names: Option<Vec<Token>> = names.collect();
    let Some(names) = names.filter(|names| names.len() > 1) else {
        return false;
    };
    names
        .iter()
        .for_each(|name| edits.insert(name.start, OUTER));
    let inner = names
        .iter()
        .map(|name| format!("{0}={OUTER}{0}", name.of(source)));
    let inner = inner.collect::<Vec<_>>().join(", ");
    edits.insert(
        statement.end,
        &format!("{{% with {inner} {}%}}", statement.strip),
    );
    true
}

fn assignment(source: &str, tokens: &[Token], edits: &mut Edits) {
    let mut tokens = tokens.iter();
    let equals = tokens.find(|token| token.of(source) == "=");
    if let (Some(equals), Some(last)) = (equals, tokens.next_back()) {
        wrap(OWN, equals.end, last.end, edits);
    }
}

fn iteration(source: &str, tokens: &[Token], edits: &mut Edits) {
    let is = |token: &Token, word: &str| token.kind == Kind::Separator && token.of(source) == word;
    let Some(from) = tokens.iter().position(|token| is(token, "in")) else {
        return;
    };
    let value = tokens[from + 1..]
        .split(|token| is(token, "if") || is(token, "recursive"))
        .next();
    let has = |tokens: &[Token], word| tokens.iter().any(|token| is(token, word));
    let function = match has(&tokens[..from], ",") && has(tokens, "if") {
        true => EACH_TUPLE,
        false => EACH,
    };
    if let Some(last) = value.and_then(<[Token]>::last) {
        wrap(function, tokens[from].end, last.end, edits);
    }
}

fn wrap(function: &str, start: usize, end: usize, edits: &mut Edits) {
    edits.put(start, Rank::Assignment, 0, &format!(" {function}(("));
    edits.insert(end, "))");
}
