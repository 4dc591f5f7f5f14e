//! `break` and `continue` that leave blocks on their way out of a loop, and the scopes of blocks.
//!
//! minijinja jumps to the end of the loop, but it ends neither the `with` blocks nor the captured texts (`set`, `filter`)
//! on the way. So the statement only notes what it is, the rest of each block on the way is skipped, and the loop is
//! left behind the outermost block:
//!
//! ```text
//! {% with %}a{% if b %}{% break %}c{% endif %}d{% endwith %}   ─►
//! {% with %}a{% if b %}{% do __leave__('break') %}{% if __stays__() %}c{% endif %}{% endif %}
//! {% if __stays__() %}d{% endif %}{% endwith %}{% if __left__('break') %}{% break %}{% endif %}
//! ```
//!
//! A captured text is used behind its block, because a loop that is left discards it. The `else` of a loop is printed if
//! no round reached its end, as in Jinja2.
//!
//! minijinja computes the condition of a loop for all items before the first round, Jinja2 for each item before its
//! round. So the condition becomes one around the round, unless `loop` is used, which counts the rounds:
//!
//! ```text
//! {% for a in b if c %}d{% endfor %}   ─►   {% for a in b %}{% if c %}d{% endif %}{% endfor %}
//! ```

use super::edits::Edits;
use super::statements::Statement;
use super::tokens::{self, Token};
use crate::engine::jinja::rewrite::leave::{COMPLETED, LEAVE, LEFT, STAYS, UNFINISHED, WATCH};

/// The name of a captured text until its block is complete.
const CAPTURED: &str = "__captured__";
/// Makes a statement of the condition of a loop.
const APART: &str = "%}{% ";

/// The open blocks, innermost last.
#[derive(Debug, Default)]
pub struct Blocks {
    open: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    /// The position before the `{%` that opens it.
    start: usize,
    strip: &'static str,
    /// The positions of the code that opens it.
    head: (usize, usize),
    /// Open conditions around the rest of this block.
    guards: usize,
    way: Way,
    /// The position of the `if` of a loop whose condition is computed in its rounds.
    condition: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Loop {
        is_recursive: bool,
        /// A `break` or a `continue` belongs to it.
        is_left: bool,
    },
    /// The `else` of a loop.
    Otherwise {
        is_left: bool,
    },
    If,
    /// `with`, `autoescape`.
    Scope,
    Set,
    Filter,
    /// Nothing within it leaves it: `macro`, `call`, `block`.
    Function,
}

/// What follows the end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Stays,
    /// The rest of the block around it is skipped.
    Skips,
    /// The loop around it is left.
    Leaves,
}

impl Kind {
    fn of(word: &str, source: &str, statement: &Statement<'_>) -> Option<Self> {
        let has = |wanted: &str| {
            statement
                .tokens
                .iter()
                .any(|token| token.of(source) == wanted)
        };
        Some(match word {
            "for" => Self::Loop {
                is_recursive: has("recursive"),
                is_left: false,
            },
            "if" => Self::If,
            "with" | "autoescape" => Self::Scope,
            "set" if !has("=") => Self::Set,
            "filter" => Self::Filter,
            "macro" | "call" | "block" => Self::Function,
            _ => return None,
        })
    }

    fn end(self) -> &'static [&'static str] {
        match self {
            Self::Loop { .. } | Self::Otherwise { .. } => &["endfor"],
            Self::If => &["endif"],
            Self::Scope => &["endwith", "endautoescape"],
            Self::Set => &["endset"],
            Self::Filter => &["endfilter"],
            Self::Function => &["endmacro", "endcall", "endblock"],
        }
    }

    /// Whether a jump out of it must end it.
    fn must_end(self) -> bool {
        matches!(
            self,
            Self::Otherwise { .. } | Self::Scope | Self::Set | Self::Filter
        )
    }
}

impl Blocks {
    /// Before other rewrites of the statement.
    pub fn before(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let Some(word) = word(source, statement) else {
            return;
        };
        match word {
            "break" | "continue" => self.leave(word, statement, edits),
            "elif" | "else" => self.close_guards(source, statement, edits),
            _ if self.ends(word) => self.close_guards(source, statement, edits),
            _ => {}
        }
    }

    /// After other rewrites of the statement.
    pub fn after(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let (Some(word), [first, .., last] | [first @ last]) =
            (word(source, statement), statement.tokens)
        else {
            return;
        };
        if let Some(kind) = Kind::of(word, source, statement) {
            if matches!(kind, Kind::Set | Kind::Filter) {
                edits.insert(statement.end, &format!("{{% with {}%}}", statement.strip));
            }
            self.open.push(Block {
                kind,
                start: statement.start,
                strip: strip(source, statement.start),
                head: (first.start, last.end),
                guards: 0,
                way: Way::Stays,
                condition: condition(kind, source, statement),
            });
        } else if word == "else" {
            self.otherwise(statement, edits);
        } else if self.ends(word) {
            self.end(source, statement, edits);
        }
    }

    /// A name in an expression.
    pub fn mention(&mut self, name: &str) {
        let mut around = self.open.iter_mut().rev();
        if name == "loop"
            && let Some(block) = around.find(|block| matches!(block.kind, Kind::Loop { .. }))
        {
            block.condition = None;
        }
    }

    fn ends(&self, word: &str) -> bool {
        self.open
            .last()
            .is_some_and(|block| block.kind.end().contains(&word))
    }

    fn leave(&mut self, word: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let is_end = |block: &Block| matches!(block.kind, Kind::Loop { .. } | Kind::Function);
        let Some(around) = self.open.iter().rposition(is_end) else {
            return;
        };
        if let Kind::Loop { is_left, .. } = &mut self.open[around].kind {
            *is_left = true;
        }
        let inner = &mut self.open[around + 1..];
        let Some(outermost) = inner.iter().position(|block| block.kind.must_end()) else {
            return;
        };
        inner[outermost].way = Way::Leaves;
        for block in &mut inner[outermost + 1..] {
            block.way = Way::Skips;
        }
        let (Some(last), [token, ..]) = (inner.last_mut(), statement.tokens) else {
            return;
        };
        last.guards += 1;
        let put_in = format!("do {LEAVE}('{word}') %}}{{% if {STAYS}()");
        edits.supersede(token.start, token.end, &put_in);
    }

    fn close_guards(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let Some(block) = self.open.last_mut() else {
            return;
        };
        let strip = strip(source, statement.start);
        for _ in 0..std::mem::take(&mut block.guards) {
            edits.insert(statement.start, &format!("{{%{strip} endif %}}"));
        }
    }

    /// The `else` of a loop: a scope, and printed if no round was completed.
    fn otherwise(&mut self, statement: &Statement<'_>, edits: &mut Edits) {
        let (Some(block), [token, ..]) = (self.open.last_mut(), statement.tokens) else {
            return;
        };
        let Kind::Loop {
            is_recursive,
            is_left,
        } = block.kind
        else {
            return;
        };
        let condition = block.condition.take();
        let is_left = is_left && !is_recursive || condition.is_some();
        block.kind = Kind::Otherwise { is_left };
        if is_left {
            edits.insert(block.start, &format!("{{%{} do {WATCH}() %}}", block.strip));
            let close = condition.map_or("", |_| "{% endif %}");
            condition.inspect(|at| edits.insert(*at, APART));
            let put_in = format!(
                "do {COMPLETED}() %}}{close}{{% endfor %}}{{% if {UNFINISHED}() %}}{{% with"
            );
            edits.supersede(token.start, token.end, &put_in);
        } else {
            edits.insert(statement.end, &format!("{{% with {}%}}", statement.strip));
        }
    }

    fn end(&mut self, source: &str, statement: &Statement<'_>, edits: &mut Edits) {
        let (Some(block), [token, ..]) = (self.open.pop(), statement.tokens) else {
            return;
        };
        let strip = strip(source, statement.start);
        let close = format!("{{%{strip} endwith %}}");
        if let Some(at) = block.condition {
            edits.insert(at, APART);
            edits.insert(statement.start, &format!("{{%{strip} endif %}}"));
        }
        match block.kind {
            Kind::Otherwise { is_left: true } => {
                edits.supersede(token.start, token.end, "endwith %}{% endif");
            }
            Kind::Otherwise { is_left: false } | Kind::Set | Kind::Filter => {
                edits.insert(statement.start, &close);
            }
            _ => {}
        }
        let mut put_in = match block.way {
            Way::Stays => return,
            Way::Skips => format!("{{% if {STAYS}() %}}"),
            Way::Leaves => ["break", "continue"]
                .map(|word| format!("{{% if {LEFT}('{word}') %}}{{% {word} %}}{{% endif %}}"))
                .concat(),
        };
        if block.way == Way::Skips
            && let Some(around) = self.open.last_mut()
        {
            around.guards += 1;
        }
        if let Some(used) = used(source, &block) {
            edits.supersede(block.head.0, block.head.1, &format!("set {CAPTURED}"));
            edits.supersede(token.start, token.end, "endset");
            put_in.push_str(&super::rewrite(&used));
        }
        // The last of the inserted statements strips what the written one strips.
        let end = put_in.len() - "%}".len();
        put_in.insert_str(end, statement.strip);
        edits.insert(statement.end, &put_in);
    }
}

fn condition(kind: Kind, source: &str, statement: &Statement<'_>) -> Option<usize> {
    let is_if = |token: &&Token| token.kind == tokens::Kind::Separator && token.of(source) == "if";
    let is_simple = matches!(
        kind,
        Kind::Loop {
            is_recursive: false,
            ..
        }
    ) && !source[statement.start..statement.end].contains("loop");
    let found = statement.tokens.iter().find(is_if);
    found.filter(|_| is_simple).map(|token| token.start)
}

/// What uses the captured text of a block.
fn used(source: &str, block: &Block) -> Option<String> {
    let code = &source[block.head.0..block.head.1];
    match block.kind {
        Kind::Filter => code
            .strip_prefix("filter")
            .map(|filters| format!("{{{{ {CAPTURED}|{filters} }}}}")),
        Kind::Set => code.strip_prefix("set").map(|target| {
            let (target, filters) = match target.split_once('|') {
                Some((target, filters)) => (target, format!("|{filters}")),
                None => (target, String::new()),
            };
            format!("{{% set {target} = {CAPTURED}{filters} %}}")
        }),
        _ => None,
    }
}

fn word<'s>(source: &'s str, statement: &Statement<'_>) -> Option<&'s str> {
    statement.tokens.first().map(|token| token.of(source))
}

/// The marker of a statement that removes the white space before it.
pub fn strip(source: &str, start: usize) -> &'static str {
    match source[start..].starts_with("{%-") {
        true => "-",
        false => "",
    }
}
