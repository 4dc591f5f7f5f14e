//! The nodes of a template.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::error::At;
use super::{Executor, Fallible};
use crate::error::Limit;
use crate::format;
use crate::parse::{Branch, Node, Pipe, TemplateCall, Tree};
use crate::value::{Slot, Value};

/// What `break` and `continue` do to the blocks around them.
pub enum Jump {
    Break,
    Continue,
}

pub type Flow = ControlFlow<Jump>;

impl<'s> Executor<'s, '_> {
    /// Runs a template with its own variables.
    pub fn template(&mut self, tree: &'s Tree, data: Slot) -> Fallible<()> {
        let outer = (self.tree, self.base, self.at);
        self.enter()?;
        self.session.running.push(Arc::clone(&tree.name));
        self.tree = tree;
        self.base = self.variables.len();
        self.variables.push((Arc::from("$"), data.clone()));
        // A jump cannot leave a template: the parser allows it inside `range` only.
        let _flow = self.walk(&data, &tree.nodes)?;
        self.variables.truncate(self.base);
        (self.tree, self.base, self.at) = outer;
        self.session.running.pop();
        self.session.budget.leave();
        Ok(())
    }

    pub fn enter(&mut self) -> Fallible<()> {
        match self.session.budget.enter() {
            Ok(()) => Ok(()),
            Err(limit) => self.fail_at_limit(limit),
        }
    }

    pub fn spend(&mut self, steps: usize) -> Fallible<()> {
        match self.session.budget.spend(steps) {
            Ok(()) => Ok(()),
            Err(limit) => self.fail_at_limit(limit),
        }
    }

    pub fn walk(&mut self, dot: &Slot, nodes: &'s [Node]) -> Fallible<Flow> {
        for node in nodes {
            self.spend(1)?;
            let flow = match node {
                Node::Text(range) => {
                    let source = self.tree.source.clone();
                    self.write(source.part(range))?;
                    continue;
                }
                Node::Action(pipe) => {
                    self.action(dot, pipe)?;
                    continue;
                }
                Node::If(branch) => self.branch(dot, branch, false)?,
                Node::With(branch) => self.branch(dot, branch, true)?,
                Node::Range(branch) => self.range(dot, branch)?,
                Node::Template(call) => {
                    self.template_call(dot, call)?;
                    continue;
                }
                Node::Break => Flow::Break(Jump::Break),
                Node::Continue => Flow::Break(Jump::Continue),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue(()))
    }

    fn write(&mut self, bytes: &[u8]) -> Fallible<()> {
        if bytes.len() > self.limit.saturating_sub(self.out.len()) {
            return self.fail_at_limit(Limit::Output(self.limit));
        }
        self.out.extend_from_slice(bytes);
        self.spend(bytes.len() / crate::budget::BYTES_PER_STEP)
    }

    fn action(&mut self, dot: &Slot, pipe: &'s Pipe) -> Fallible<()> {
        let result = self.pipeline(dot, pipe)?;
        if !pipe.variables.is_empty() {
            return Ok(());
        }
        self.at = At::Action(pipe);
        match &result.value {
            Value::Nil => self.write(b"<no value>"),
            Value::String(text) => self.write(text),
            Value::Function(function) => {
                let type_text = function.type_text();
                self.fail(format!("can't print {} of type {type_text}", self.node()))
            }
            value => {
                let before = self.out.len();
                let values = std::slice::from_ref(value);
                if let Err(limit) = format::print(&mut self.out, self.limit, values) {
                    return self.fail_at_limit(limit);
                }
                self.spend((self.out.len() - before) / crate::budget::BYTES_PER_STEP)
            }
        }
    }

    fn branch(&mut self, dot: &Slot, branch: &'s Branch, is_with: bool) -> Fallible<Flow> {
        self.enter()?;
        let mark = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let flow = match (value.value.is_true(), &branch.otherwise) {
            (true, _) => self.walk(if is_with { &value } else { dot }, &branch.body)?,
            (false, Some(otherwise)) => self.walk(dot, otherwise)?,
            (false, None) => Flow::Continue(()),
        };
        self.variables.truncate(mark);
        self.session.budget.leave();
        Ok(flow)
    }

    fn template_call(&mut self, dot: &Slot, call: &'s TemplateCall) -> Fallible<()> {
        self.at = At::Template(call);
        let Some(tree) = self.scope.find(&call.name) else {
            let name = crate::text::quoted(&call.name);
            return self.fail(format!("template {name} not defined"));
        };
        let data = match &call.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Slot::INVALID,
        };
        self.template(tree, data)
    }
}
