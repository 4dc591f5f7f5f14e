//! Parsed templates. They hold no values of a run, so threads may share them.

use std::ops::Range;
use std::sync::Arc;

use crate::function_table::Callee;
use crate::text;
use crate::value::GoString;

/// A text that was parsed, with the templates that it defines.
#[derive(Debug)]
pub struct Source {
    /// The name in errors.
    pub name: String,
    /// The text, as it was given.
    pub text: GoString,
}

impl Source {
    /// A part of the text.
    #[must_use]
    pub fn part(&self, range: &Range<usize>) -> &[u8] {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// A template.
#[derive(Debug)]
pub struct Tree {
    /// The name that `template` calls it by.
    pub name: Arc<str>,
    /// The text that defines it.
    pub source: Arc<Source>,
    /// Its body.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Whether there is nothing in it but white space: it does not replace another template of its name then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| match node {
            Node::Text(range) => text::runes(self.source.part(range)).all(text::is_space),
            _ => false,
        })
    }
}

/// A part of a template's body.
#[derive(Debug)]
pub enum Node {
    /// Text to print, as a range of the source.
    Text(Range<usize>),
    /// A pipeline whose result is printed unless it sets variables.
    Action(Pipe),
    /// `{{if}}`
    If(Box<Branch>),
    /// `{{with}}`
    With(Box<Branch>),
    /// `{{range}}`
    Range(Box<Branch>),
    /// `{{template}}`
    Template(Box<TemplateCall>),
    /// `{{break}}`
    Break,
    /// `{{continue}}`
    Continue,
}

/// `{{if}}`, `{{with}}` or `{{range}}`
#[derive(Debug)]
pub struct Branch {
    /// What decides.
    pub pipe: Pipe,
    /// The body.
    pub body: Vec<Node>,
    /// What follows `{{else}}`.
    pub otherwise: Option<Vec<Node>>,
}

/// `{{template "name" pipeline}}`
#[derive(Debug)]
pub struct TemplateCall {
    /// In bytes from the start of the source.
    pub position: usize,
    /// Which template.
    pub name: String,
    /// Its data; nil without it.
    pub pipe: Option<Pipe>,
}

/// Commands, each of which takes the result of the one before.
#[derive(Debug)]
pub struct Pipe {
    /// In bytes from the start of the source.
    pub position: usize,
    /// Whether the variables are assigned (`=`), not declared (`:=`).
    pub is_assignment: bool,
    /// The variables, with their dollar signs.
    pub variables: Vec<Arc<str>>,
    /// At least one.
    pub commands: Vec<Command>,
}

/// A word and its arguments.
#[derive(Debug)]
pub struct Command {
    /// In bytes from the start of the source.
    pub position: usize,
    /// The word, then the arguments: at least one.
    pub operands: Vec<Operand>,
}

/// What a command is made of. Positions are in bytes from the start of the source.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is what its name and type say")]
pub enum Operand {
    Bool {
        position: usize,
        truth: bool,
    },
    Dot {
        position: usize,
    },
    Nil {
        position: usize,
    },
    Number(Box<Number>),
    String {
        literal: Range<usize>,
        value: GoString,
    },
    Field {
        position: usize,
        names: Box<[Arc<str>]>,
    },
    /// The variable's name with its dollar sign, then fields.
    Variable {
        position: usize,
        names: Box<[Arc<str>]>,
    },
    Function {
        position: usize,
        callee: Callee,
    },
    Chain(Box<Chain>),
    Pipe(Box<Pipe>),
}

impl Operand {
    /// In bytes from the start of the source.
    #[must_use]
    pub fn position(&self) -> usize {
        match self {
            Self::Bool { position, .. }
            | Self::Dot { position }
            | Self::Nil { position }
            | Self::Field { position, .. }
            | Self::Variable { position, .. }
            | Self::Function { position, .. } => *position,
            Self::Number(number) => number.literal.start,
            Self::String { literal, .. } => literal.start,
            Self::Chain(chain) => chain.position,
            Self::Pipe(pipe) => pipe.position,
        }
    }
}

/// A number, as each of the types that can hold it.
#[derive(Debug)]
pub struct Number {
    /// Where it stands in the source.
    pub literal: Range<usize>,
    /// As a signed integer.
    pub int: Option<i64>,
    /// As an unsigned integer.
    pub uint: Option<u64>,
    /// As a float.
    pub float: Option<f64>,
    /// Whether its syntax says that it is a float where any type will do.
    pub is_float: bool,
}

/// Fields of what is no field and no variable: `(pipeline).a.b`, `function.a`
#[derive(Debug)]
pub struct Chain {
    /// Of the first field; in bytes from the start of the source.
    pub position: usize,
    /// What has the fields.
    pub operand: Operand,
    /// The fields.
    pub names: Vec<Arc<str>>,
}
