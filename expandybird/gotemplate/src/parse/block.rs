//! Control actions.

use super::parser::{Item, Parser, Template};
use super::token::{Kind, Token};
use super::tree::{Branch, Node, TemplateCall};
use crate::error::ParseError;

impl Parser<'_> {
    /// An action whose left delimiter is read.
    pub(super) fn action(&mut self) -> Result<Item, ParseError> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break => self.break_or_continue("{{break}}", Node::Break)?,
            Kind::Continue => self.break_or_continue("{{continue}}", Node::Continue)?,
            Kind::Else => return self.else_item(),
            Kind::End => {
                self.expect(Kind::RightDelimiter, "end")?;
                return Ok(Item::End);
            }
            Kind::If => Node::If(self.control("if")?),
            Kind::Range => Node::Range(self.control("range")?),
            Kind::Template => self.template_call()?,
            Kind::With => Node::With(self.control("with")?),
            _ => {
                self.back_up();
                Node::Action(self.pipeline("command", Kind::RightDelimiter)?)
            }
        };
        Ok(Item::Node(node))
    }

    fn break_or_continue(&mut self, action: &str, node: Node) -> Result<Node, ParseError> {
        self.expect(Kind::RightDelimiter, action)?;
        if self.template.ranges == 0 {
            return self.error(format!("{action} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    fn else_item(&mut self) -> Result<Item, ParseError> {
        if !matches!(self.peek_non_space().kind, Kind::If | Kind::With) {
            self.expect(Kind::RightDelimiter, "else")?;
        }
        Ok(Item::Else)
    }

    /// `if`, `with` or `range`, whose keyword is read, up to its end.
    fn control(&mut self, context: &'static str) -> Result<Box<Branch>, ParseError> {
        let variables = self.template.variables.len();
        self.enter()?;
        let pipe = self.pipeline(context, Kind::RightDelimiter)?;
        let is_range = usize::from(context == "range");
        self.template.ranges += is_range;
        let (body, end) = self.items()?;
        self.template.ranges -= is_range;
        let otherwise = match end {
            Item::Else => Some(self.otherwise(context)?),
            Item::End | Item::Node(_) => None,
        };
        self.nesting -= 1;
        self.template.variables.truncate(variables);
        Ok(Box::new(Branch {
            pipe,
            body,
            otherwise,
        }))
    }

    /// What follows `else`: `{{else if a}}…{{end}}` stands for `{{else}}{{if a}}…{{end}}{{end}}`.
    fn otherwise(&mut self, context: &'static str) -> Result<Vec<Node>, ParseError> {
        match (context, self.peek().kind) {
            ("if", Kind::If) => {
                self.next();
                Ok(vec![Node::If(self.control("if")?)])
            }
            ("with", Kind::With) => {
                self.next();
                Ok(vec![Node::With(self.control("with")?)])
            }
            _ => {
                let (nodes, end) = self.items()?;
                if !matches!(end, Item::End) {
                    return self.error(format!("expected end; found {}", end.text()));
                }
                Ok(nodes)
            }
        }
    }

    /// `block "name" pipeline`: defines a template, and calls it.
    fn block(&mut self) -> Result<Node, ParseError> {
        let token = self.next_non_space();
        let name = self.template_name(&token, "block clause")?;
        let pipe = self.pipeline("block clause", Kind::RightDelimiter)?;
        let outer = std::mem::replace(&mut self.template, Template::new());
        self.enter()?;
        let line = self.line();
        let (nodes, end) = self.items()?;
        if !matches!(end, Item::End) {
            // Go places this error where the block begins, unlike that of a definition.
            return self.error_at(line, format!("unexpected {} in block clause", end.text()));
        }
        self.add(&name, nodes)?;
        self.nesting -= 1;
        self.template = outer;
        Ok(Node::Template(Box::new(TemplateCall {
            position: token.range.start,
            name,
            pipe: Some(pipe),
        })))
    }

    fn template_call(&mut self) -> Result<Node, ParseError> {
        let token = self.next_non_space();
        let name = self.template_name(&token, "template clause")?;
        let mut pipe = None;
        if self.next_non_space().kind != Kind::RightDelimiter {
            self.back_up();
            pipe = Some(self.pipeline("template clause", Kind::RightDelimiter)?);
        }
        Ok(Node::Template(Box::new(TemplateCall {
            position: token.range.start,
            name,
            pipe,
        })))
    }

    pub(super) fn template_name(&self, token: &Token, context: &str) -> Result<String, ParseError> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        let name = self.unquote(token)?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }
}
