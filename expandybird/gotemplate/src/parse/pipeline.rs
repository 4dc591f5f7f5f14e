//! Pipelines, commands and operands.

use std::sync::Arc;

use super::number;
use super::parser::Parser;
use super::token::{Kind, Token};
use super::tree::{Chain, Command, Operand, Pipe};
use crate::error::ParseError;
use crate::text;

impl Parser<'_> {
    /// A pipeline up to the token that ends it, which is read too.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe, ParseError> {
        let mut pipe = Pipe {
            position: self.peek_non_space().range.start,
            is_assignment: false,
            variables: Vec::new(),
            commands: Vec::new(),
        };
        while self.declaration(&mut pipe, context)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check(&pipe, context)?;
                    return Ok(pipe);
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    self.back_up();
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// A variable that is declared or assigned. Returns whether another may follow.
    fn declaration(&mut self, pipe: &mut Pipe, context: &str) -> Result<bool, ParseError> {
        let variable = self.peek_non_space();
        if variable.kind != Kind::Variable {
            return Ok(false);
        }
        self.next();
        // A space is a token: three of them decide whether the variable is declared here.
        let after = self.peek();
        let next = self.peek_non_space();
        match next.kind {
            Kind::Assign | Kind::Declare => {
                pipe.is_assignment = next.kind == Kind::Assign;
                self.next_non_space();
                self.declare(pipe, &variable);
                Ok(false)
            }
            Kind::Char if self.text(&next) == b"," => {
                self.next_non_space();
                self.declare(pipe, &variable);
                self.check_comma(pipe, context)
            }
            _ => {
                if after.kind == Kind::Space {
                    self.back_up_with_two(variable, after);
                } else {
                    self.back_up_with(variable);
                }
                Ok(false)
            }
        }
    }

    fn declare(&mut self, pipe: &mut Pipe, variable: &Token) {
        let name: Arc<str> = self.name(variable).into();
        pipe.variables.push(Arc::clone(&name));
        self.template.variables.push(name);
    }

    fn check_comma(&mut self, pipe: &Pipe, context: &str) -> Result<bool, ParseError> {
        if context != "range" || pipe.variables.len() >= 2 {
            return self.error(format!("too many declarations in {context}"));
        }
        match self.peek_non_space().kind {
            Kind::Variable | Kind::RightDelimiter | Kind::RightParen => Ok(true),
            _ => self.error("range can only initialize variables"),
        }
    }

    /// A stage after the first must be something that takes an argument.
    fn check(&self, pipe: &Pipe, context: &str) -> Result<(), ParseError> {
        if pipe.commands.is_empty() {
            return self.error(format!("missing value for {context}"));
        }
        let is_literal = |command: &Command| {
            matches!(
                command.operands.first(),
                Some(
                    Operand::Bool { .. }
                        | Operand::Dot { .. }
                        | Operand::Nil { .. }
                        | Operand::Number(_)
                        | Operand::String { .. }
                )
            )
        };
        match pipe.commands.iter().skip(1).position(is_literal) {
            None => Ok(()),
            Some(index) => {
                let stage = index + 2;
                self.error(format!("non executable command in pipeline stage {stage}"))
            }
        }
    }

    /// Operands up to a pipe, which is read, or to the pipeline's end, which is not.
    fn command(&mut self) -> Result<Command, ParseError> {
        let mut command = Command {
            position: self.peek_non_space().range.start,
            operands: Vec::new(),
        };
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                command.operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelimiter | Kind::RightParen => self.back_up(),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if command.operands.is_empty() {
            return self.error("empty command");
        }
        Ok(command)
    }

    /// A term and its fields; `None` if there is none.
    fn operand(&mut self) -> Result<Option<Operand>, ParseError> {
        let Some(term) = self.term()? else {
            return Ok(None);
        };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let position = self.peek().range.start;
        let mut fields = Vec::new();
        while self.peek().kind == Kind::Field {
            let token = self.next();
            fields.push(self.field_name(&token));
        }
        let join = |names: Box<[Arc<str>]>| names.into_iter().chain(fields.clone()).collect();
        Ok(Some(match term {
            Operand::Field { names, .. } => Operand::Field {
                position,
                names: join(names),
            },
            Operand::Variable { names, .. } => Operand::Variable {
                position,
                names: join(names),
            },
            Operand::Function { .. } | Operand::Pipe(_) | Operand::Chain(_) => {
                Operand::Chain(Box::new(Chain {
                    position,
                    operand: term,
                    names: fields,
                }))
            }
            literal => return self.field_of_literal(&literal),
        }))
    }

    fn field_of_literal<T>(&self, literal: &Operand) -> Result<T, ParseError> {
        let mut shown = Vec::new();
        literal.write(self.source, &mut shown);
        let mut quoted = Vec::new();
        text::write_quoted(&mut quoted, &shown, false);
        let quoted = String::from_utf8_lossy(&quoted);
        self.error(format!("unexpected . after term {quoted}"))
    }

    fn field_name(&self, token: &Token) -> Arc<str> {
        let name = self.name(token);
        name.strip_prefix('.').unwrap_or(&name).into()
    }

    fn term(&mut self) -> Result<Option<Operand>, ParseError> {
        let token = self.next_non_space();
        let position = token.range.start;
        let term = match token.kind {
            Kind::Identifier => self.function(&token)?,
            Kind::Dot => Operand::Dot { position },
            Kind::Nil => Operand::Nil { position },
            Kind::Variable => self.variable(&token)?,
            Kind::Field => Operand::Field {
                position,
                names: Box::new([self.field_name(&token)]),
            },
            Kind::Bool => Operand::Bool {
                position,
                truth: self.text(&token) == b"true",
            },
            Kind::CharConstant | Kind::Complex | Kind::Number => self.number(&token)?,
            Kind::LeftParen => {
                self.enter()?;
                let pipe = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
                self.nesting -= 1;
                Operand::Pipe(Box::new(pipe))
            }
            Kind::String | Kind::RawString => Operand::String {
                value: self.unquote(&token)?.into(),
                literal: token.range,
            },
            _ => {
                self.back_up();
                return Ok(None);
            }
        };
        Ok(Some(term))
    }

    fn number(&self, token: &Token) -> Result<Operand, ParseError> {
        match number::read(token.range.clone(), self.text(token), token.kind) {
            Ok(number) => Ok(Operand::Number(Box::new(number))),
            Err(message) => self.error(message),
        }
    }

    fn function(&self, token: &Token) -> Result<Operand, ParseError> {
        let name = self.name(token);
        match self.functions.find(&name) {
            Some(callee) => Ok(Operand::Function {
                position: token.range.start,
                callee,
            }),
            None => self.error(format!("function {} not defined", text::quoted(&name))),
        }
    }

    fn variable(&self, token: &Token) -> Result<Operand, ParseError> {
        let name = self.name(token);
        match self
            .template
            .variables
            .iter()
            .find(|known| ***known == *name)
        {
            Some(known) => Ok(Operand::Variable {
                position: token.range.start,
                names: Box::new([Arc::clone(known)]),
            }),
            None => self.error(format!("undefined variable {}", text::quoted(&name))),
        }
    }
}
