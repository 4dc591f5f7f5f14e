//! From text to trees: Go's `text/template/parse`, with its error texts.
//!
//! Nesting is bounded: a text of a million parentheses is refused, and no tree is deeper than the stack allows.

mod block;
mod lexer;
mod number;
mod parser;
mod pipeline;
mod scan;
mod source_text;
mod token;
mod tree;

pub use parser::{Delimiters, MAX_NESTING, parse};
pub use tree::{Branch, Chain, Command, Node, Number, Operand, Pipe, Source, TemplateCall, Tree};
