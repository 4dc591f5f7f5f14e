//! What the lexer finds.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The lexer's message says what is wrong.
    Error,
    Bool,
    /// Any other printable ASCII character.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelimiter,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelimiter,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Define,
    Dot,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// The keyword that is spelled like this.
    pub fn keyword(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"block" => Self::Block,
            b"break" => Self::Break,
            b"continue" => Self::Continue,
            b"define" => Self::Define,
            b"else" => Self::Else,
            b"end" => Self::End,
            b"if" => Self::If,
            b"nil" => Self::Nil,
            b"range" => Self::Range,
            b"template" => Self::Template,
            b"with" => Self::With,
            _ => return None,
        })
    }

    /// Whether errors show it in angle brackets.
    pub fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Define
                | Self::Dot
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    /// Where it stands in the source.
    pub range: Range<usize>,
    /// Where it begins, counted from 1.
    pub line: usize,
}
