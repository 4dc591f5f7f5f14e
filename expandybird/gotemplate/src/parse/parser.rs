//! From tokens to trees: templates, text and control actions.

use std::sync::Arc;

use super::lexer::Lexer;
use super::token::{Kind, Token};
use super::tree::{Node, Source, Tree};
use crate::error::ParseError;
use crate::function_table::FunctionTable;
use crate::text;

/// Blocks, `else if`s and parentheses within each other. Go allows 10,000 parentheses and any number of blocks.
pub const MAX_NESTING: usize = 200;

/// What begins and ends an action.
#[derive(Clone, Debug)]
pub struct Delimiters {
    /// `{{` by default.
    pub left: Vec<u8>,
    /// `}}` by default.
    pub right: Vec<u8>,
}

impl Default for Delimiters {
    fn default() -> Self {
        Self::new("", "")
    }
}

impl Delimiters {
    /// Other delimiters; an empty one stands for the default.
    #[must_use]
    pub fn new(left: &str, right: &str) -> Self {
        let or = |given: &str, default: &str| if given.is_empty() { default } else { given }.into();
        Self {
            left: or(left, "{{"),
            right: or(right, "}}"),
        }
    }
}

/// Parses a text as a template of its source's name. The result has it last, after those that it defines.
///
/// # Errors
/// The text is no template; the message is Go's.
pub fn parse(
    source: &Arc<Source>,
    delimiters: &Delimiters,
    functions: &FunctionTable,
) -> Result<Vec<Tree>, ParseError> {
    let mut lexer = Lexer::new(&source.text, delimiters);
    lexer.has_break = !functions.contains("break");
    lexer.has_continue = !functions.contains("continue");
    let mut parser = Parser {
        source,
        functions,
        lexer,
        tokens: [const { None }; 3],
        peeked: 0,
        trees: Vec::new(),
        template: Template::default(),
        nesting: 0,
    };
    parser.source()?;
    Ok(parser.trees)
}

/// The parser's state within one template.
#[derive(Default)]
pub(super) struct Template {
    pub variables: Vec<Arc<str>>,
    /// The line of the action that is being read; 0 outside.
    pub action_line: usize,
    pub ranges: usize,
}

pub(super) struct Parser<'a> {
    pub source: &'a Arc<Source>,
    pub functions: &'a FunctionTable,
    pub lexer: Lexer<'a>,
    /// The last token, and tokens that were put back before it.
    tokens: [Option<Token>; 3],
    peeked: usize,
    trees: Vec<Tree>,
    pub template: Template,
    pub nesting: usize,
}

/// What stands at the level of text.
pub(super) enum Item {
    Node(Node),
    End,
    /// `else`; an `if` or `with` behind it is not read yet.
    Else,
}

impl Item {
    pub fn text(&self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else | Self::Node(_) => "{{else}}",
        }
    }
}

impl Parser<'_> {
    fn lex(&mut self) -> Token {
        self.lexer.next_token()
    }

    pub fn next(&mut self) -> Token {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = Some(self.lex());
        }
        let token = self.tokens.get(self.peeked).cloned().flatten();
        token.unwrap_or(Token {
            kind: Kind::Eof,
            range: 0..0,
            line: 0,
        })
    }

    pub fn back_up(&mut self) {
        self.peeked += 1;
    }

    /// Puts the last token back, and this one before it.
    pub fn back_up_with(&mut self, first: Token) {
        self.tokens[1] = Some(first);
        self.peeked = 2;
    }

    /// Puts the last token back, and these before it.
    pub fn back_up_with_two(&mut self, first: Token, second: Token) {
        self.tokens[1] = Some(second);
        self.tokens[2] = Some(first);
        self.peeked = 3;
    }

    pub fn peek(&mut self) -> Token {
        let token = self.next();
        self.back_up();
        token
    }

    pub fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    pub fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.back_up();
        token
    }

    /// An error in the line of the last token that was lexed.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        self.error_at(self.line(), message)
    }

    pub fn error_at<T>(&self, line: usize, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            file: self.source.name.clone(),
            line,
            message: message.into(),
        })
    }

    /// The line of the last token.
    pub fn line(&self) -> usize {
        self.tokens[0].as_ref().map_or(0, |token| token.line)
    }

    pub fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T, ParseError> {
        let shown = self.show(token);
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {shown} in {context}"));
        }
        let line = self.template.action_line;
        if line == 0 || line == token.line {
            return self.error(shown);
        }
        let action = if shown.ends_with(" action") {
            ""
        } else {
            " in action"
        };
        self.error(format!(
            "{shown}{action} started at {}:{line}",
            self.source.name
        ))
    }

    fn show(&self, token: &Token) -> String {
        let value = self.text(token);
        let lossy = String::from_utf8_lossy(value);
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.lexer.message.clone(),
            kind if kind.is_keyword() => format!("<{lossy}>"),
            _ if value.len() > 10 => {
                let mut out = Vec::new();
                text::write_quoted(&mut out, text::truncated(value, 10), false);
                format!("{}...", String::from_utf8_lossy(&out))
            }
            _ => {
                let mut out = Vec::new();
                text::write_quoted(&mut out, value, false);
                String::from_utf8_lossy(&out).into_owned()
            }
        }
    }

    pub fn text(&self, token: &Token) -> &[u8] {
        self.source.part(&token.range)
    }

    /// The text of a name, which is ASCII or letters and digits of Unicode.
    pub fn name(&self, token: &Token) -> String {
        String::from_utf8_lossy(self.text(token)).into_owned()
    }

    pub fn expect(&mut self, kind: Kind, context: &str) -> Result<Token, ParseError> {
        let token = self.next_non_space();
        if token.kind == kind {
            return Ok(token);
        }
        self.unexpected(&token, context)
    }

    pub fn unquote(&self, token: &Token) -> Result<Vec<u8>, ParseError> {
        match text::unquote(self.text(token)) {
            Ok(bytes) => Ok(bytes),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Goes one level down; the caller goes up again.
    pub fn enter(&mut self) -> Result<(), ParseError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error("max expression depth exceeded");
        }
        Ok(())
    }

    fn source(&mut self) -> Result<(), ParseError> {
        let mut nodes = Vec::new();
        self.template = Template::new();
        while self.peek().kind != Kind::Eof {
            if self.peek().kind == Kind::LeftDelimiter {
                let delimiter = self.next();
                if self.next_non_space().kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.back_up_with(delimiter);
            }
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                item => return self.error(format!("unexpected {}", item.text())),
            }
        }
        let name = self.source.name.clone();
        self.add(&name, nodes)
    }

    fn definition(&mut self) -> Result<(), ParseError> {
        let outer = std::mem::replace(&mut self.template, Template::new());
        let token = self.next_non_space();
        let name = self.template_name(&token, "define clause")?;
        self.expect(Kind::RightDelimiter, "define clause")?;
        self.body(&name)?;
        self.template = outer;
        Ok(())
    }

    /// The body of a `define`, up to its end.
    fn body(&mut self, name: &str) -> Result<(), ParseError> {
        let (nodes, end) = self.items()?;
        if !matches!(end, Item::End) {
            return self.error(format!("unexpected {} in define clause", end.text()));
        }
        self.add(name, nodes)
    }

    /// Adds a template, unless it is empty and another of its name is there.
    pub fn add(&mut self, name: &str, nodes: Vec<Node>) -> Result<(), ParseError> {
        let tree = Tree {
            name: name.into(),
            source: Arc::clone(self.source),
            nodes,
        };
        match self.trees.iter().position(|known| *known.name == *name) {
            None => self.trees.push(tree),
            Some(known) if self.trees[known].is_empty() => self.trees[known] = tree,
            Some(_) if tree.is_empty() => {}
            Some(_) => {
                let name = text::quoted(name);
                return self.error(format!("template: multiple definition of template {name}"));
            }
        }
        Ok(())
    }

    /// Items up to an `end` or `else`, which is returned.
    pub fn items(&mut self) -> Result<(Vec<Node>, Item), ParseError> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                end => return Ok((nodes, end)),
            }
        }
        self.error("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Result<Item, ParseError> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(token.range))),
            Kind::LeftDelimiter => {
                self.template.action_line = token.line;
                let item = self.action()?;
                self.template.action_line = 0;
                Ok(item)
            }
            _ => self.unexpected(&token, "input"),
        }
    }
}

impl Template {
    pub fn new() -> Self {
        Self {
            variables: vec![Arc::from("$")],
            ..Self::default()
        }
    }
}
