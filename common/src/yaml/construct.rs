//! Builds JSON values from the tree of nodes: tags, scalars, keys, merges, duplicates, aliases.
//!
//! Aliases are expanded here, so the size of the result is limited here. Recursion is never deeper than
//! [`Limits::depth`].

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::compose::{Node, NodeId, NodeKind, Tree};
use super::error::{YamlError, YamlErrorKind};
use super::scalar::{self, Meaning, NumberError, Plain};
use super::{Document, Duplicates, Limits, Warning};

/// The prefix of the tags of YAML's own types.
const YAML_TAG: &str = "tag:yaml.org,2002:";

/// How many warnings of a document are kept.
const MAX_WARNINGS: usize = 100;

pub(super) struct Constructor<'t, 'a> {
    tree: &'t Tree<'a>,
    limits: &'t Limits,
    duplicates: Duplicates,
    warnings: Vec<Warning>,
    /// How many values exist so far, in all documents of the text.
    nodes: usize,
    /// Bytes of the text and of repeated aliases.
    bytes: usize,
    /// How many aliases lead to the current node.
    within_aliases: usize,
}

/// The meaning of a scalar, by its tag or its text.
enum Scalar {
    Value(Value),
    Merge,
}

impl<'t, 'a> Constructor<'t, 'a> {
    pub fn new(tree: &'t Tree<'a>, limits: &'t Limits, duplicates: Duplicates) -> Self {
        Constructor {
            tree,
            limits,
            duplicates,
            warnings: Vec::new(),
            nodes: 0,
            bytes: tree.text.len(),
            within_aliases: 0,
        }
    }

    pub fn document(&mut self, root: NodeId) -> Result<Document, YamlError> {
        let value = self.value(root, 0)?;
        let warnings = std::mem::take(&mut self.warnings);
        Ok(Document {
            value,
            location: self.tree.nodes[root].at,
            warnings,
        })
    }

    fn value(&mut self, id: NodeId, depth: usize) -> Result<Value, YamlError> {
        let tree = self.tree;
        let node = &tree.nodes[id];
        self.count(node)?;
        match &node.kind {
            NodeKind::Alias(target) => self.repeat(|this| this.value(*target, depth)),
            NodeKind::Scalar { text, plain } => self.scalar_value(node, text, *plain),
            NodeKind::List(items) => self.list(node, items, depth).map(Value::Array),
            NodeKind::Map(_) => self.map(node, depth).map(Value::Object),
        }
    }

    /// Runs `step` on the target of an alias.
    fn repeat<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        self.within_aliases += 1;
        let result = step(self);
        self.within_aliases -= 1;
        result
    }

    fn count(&mut self, node: &Node<'a>) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            let limit = self.limits.nodes;
            return Err(self.error(YamlErrorKind::TooManyNodes { limit }, node));
        }
        if let (NodeKind::Scalar { text, .. }, 1..) = (&node.kind, self.within_aliases) {
            self.bytes += text.len();
            if self.bytes > self.limits.bytes {
                let limit = self.limits.bytes;
                return Err(self.error(YamlErrorKind::TooLarge { limit }, node));
            }
        }
        Ok(())
    }

    fn deeper(&self, node: &Node<'a>, depth: usize) -> Result<usize, YamlError> {
        let limit = self.limits.depth;
        if depth >= limit {
            return Err(self.error(YamlErrorKind::TooDeep { limit }, node));
        }
        Ok(depth + 1)
    }

    fn list(
        &mut self,
        node: &Node<'a>,
        items: &[NodeId],
        depth: usize,
    ) -> Result<Vec<Value>, YamlError> {
        self.check_tag(node, &["seq", "omap", "pairs"])?;
        let depth = self.deeper(node, depth)?;
        items.iter().map(|item| self.value(*item, depth)).collect()
    }

    fn map(&mut self, node: &Node<'a>, depth: usize) -> Result<Map<String, Value>, YamlError> {
        self.check_tag(node, &["map", "set"])?;
        self.entries(node, depth)
    }

    /// Merged entries come first, as in PyYAML. The map's own entries override them.
    fn entries(&mut self, node: &Node<'a>, depth: usize) -> Result<Map<String, Value>, YamlError> {
        let depth = self.deeper(node, depth)?;
        let NodeKind::Map(entries) = &node.kind else {
            return Err(self.error(YamlErrorKind::InvalidMerge, node));
        };
        let mut map = Map::with_capacity(entries.len());
        let mut own = Vec::with_capacity(entries.len());
        for &(key, value) in entries {
            match self.key(key)? {
                Some(name) => own.push((name, key, value)),
                None => self.merge(&mut map, value, depth)?,
            }
        }
        let mut merged: HashSet<String> = map.keys().cloned().collect();
        for (index, (name, key, value)) in own.iter().enumerate() {
            let value = self.value(*value, depth)?;
            let known = map.insert(name.clone(), value).is_some();
            if known && !merged.remove(name) {
                self.duplicate(name, *key, &own[..index])?;
            }
        }
        Ok(map)
    }

    fn merge(
        &mut self,
        map: &mut Map<String, Value>,
        id: NodeId,
        depth: usize,
    ) -> Result<(), YamlError> {
        let tree = self.tree;
        let node = tree.target(id);
        let aliased = usize::from(matches!(tree.nodes[id].kind, NodeKind::Alias(_)));
        self.count(&tree.nodes[id])?;
        self.within_aliases += aliased;
        match &node.kind {
            // Nothing is made of this map itself, so its tag does not matter, as in PyYAML.
            NodeKind::Map(_) => map.extend(self.entries(node, depth)?),
            NodeKind::List(items) => {
                let depth = self.deeper(node, depth)?;
                // The first of several merged maps wins.
                for item in items.iter().rev() {
                    if !matches!(tree.target(*item).kind, NodeKind::Map(_)) {
                        return Err(self.error(YamlErrorKind::InvalidMerge, &tree.nodes[*item]));
                    }
                    self.merge(map, *item, depth)?;
                }
            }
            _ => return Err(self.error(YamlErrorKind::InvalidMerge, &tree.nodes[id])),
        }
        self.within_aliases -= aliased;
        Ok(())
    }

    fn duplicate(
        &mut self,
        name: &str,
        key: NodeId,
        before: &[(String, NodeId, NodeId)],
    ) -> Result<(), YamlError> {
        let node = &self.tree.nodes[key];
        // Duplicates in an alias were reported at its anchor.
        if self.within_aliases > 0 || self.warnings.len() >= MAX_WARNINGS {
            return Ok(());
        }
        let first = before.iter().find(|(earlier, ..)| earlier == name);
        let first = first.map_or(node.at, |(_, id, _)| self.tree.nodes[*id].at);
        let key = name.to_owned();
        match self.duplicates {
            Duplicates::Error => Err(self.error(YamlErrorKind::DuplicateKey { key, first }, node)),
            Duplicates::Warn => {
                let location = node.at;
                self.warnings.push(Warning {
                    key,
                    location,
                    first,
                });
                Ok(())
            }
        }
    }

    /// The text of a key. `None` for the merge key.
    fn key(&mut self, id: NodeId) -> Result<Option<String>, YamlError> {
        let tree = self.tree;
        let node = tree.target(id);
        self.count(node)?;
        let NodeKind::Scalar { text, plain } = &node.kind else {
            return Err(self.error(YamlErrorKind::ComplexKey, &tree.nodes[id]));
        };
        if node.tag.is_none() && *plain && text == "=" {
            return Ok(Some("=".to_owned()));
        }
        Ok(match self.scalar(node, text, *plain)? {
            Scalar::Merge => None,
            Scalar::Value(value) => Some(scalar::key_text(&value)),
        })
    }

    fn scalar_value(&self, node: &Node<'a>, text: &str, plain: bool) -> Result<Value, YamlError> {
        match self.scalar(node, text, plain)? {
            Scalar::Value(value) => Ok(value),
            Scalar::Merge => Err(self.error(YamlErrorKind::Reserved("<<"), node)),
        }
    }

    fn scalar(&self, node: &Node<'a>, text: &str, plain: bool) -> Result<Scalar, YamlError> {
        let tag = node
            .tag
            .as_ref()
            .map(|tag| format!("{}{}", tag.handle, tag.suffix));
        let value = match tag.as_deref() {
            Some("!") => return self.resolved(node, text),
            Some(tag) => self.tagged(node, tag, text)?,
            None if plain => return self.resolved(node, text),
            None => Value::from(text),
        };
        Ok(Scalar::Value(value))
    }

    fn resolved(&self, node: &Node<'a>, text: &str) -> Result<Scalar, YamlError> {
        let plain = scalar::plain(text);
        match plain.map_err(|e| self.number_error(e, node, "number", text))? {
            Plain::Value(value) => Ok(Scalar::Value(value)),
            Plain::Merge => Ok(Scalar::Merge),
            Plain::Default => Err(self.error(YamlErrorKind::Reserved("="), node)),
        }
    }

    fn tagged(&self, node: &Node<'a>, tag: &str, text: &str) -> Result<Value, YamlError> {
        let known = tag.strip_prefix(YAML_TAG);
        let number_error = |e| self.number_error(e, node, &as_written(tag), text);
        match known {
            Some("str" | "binary" | "timestamp") => Ok(Value::from(text)),
            Some("null") => Ok(Value::Null),
            Some("int") => scalar::int(text).map(Value::Number).map_err(number_error),
            Some("float") => scalar::float(text).map(Value::Number).map_err(number_error),
            Some("bool") => match scalar::meaning(&text.to_ascii_lowercase()) {
                Meaning::Bool(value) => Ok(Value::Bool(value)),
                _ => Err(number_error(NumberError::Malformed)),
            },
            Some("seq" | "map" | "omap" | "pairs" | "set") => {
                Err(self.error(YamlErrorKind::MisplacedTag(as_written(tag)), node))
            }
            _ => Err(self.error(YamlErrorKind::UnknownTag(as_written(tag)), node)),
        }
    }

    fn number_error(&self, e: NumberError, node: &Node<'a>, tag: &str, text: &str) -> YamlError {
        let text = text.to_owned();
        let kind = match e {
            NumberError::TooLarge => YamlErrorKind::IntegerTooLarge(text),
            NumberError::NotFinite => YamlErrorKind::NotFinite(text),
            NumberError::Malformed => YamlErrorKind::InvalidValue {
                tag: tag.to_owned(),
                text,
            },
        };
        self.error(kind, node)
    }

    /// Rejects a tag on a collection if it is not in `fitting`.
    fn check_tag(&self, node: &Node<'a>, fitting: &[&str]) -> Result<(), YamlError> {
        let Some(tag) = &node.tag else {
            return Ok(());
        };
        let tag = format!("{}{}", tag.handle, tag.suffix);
        match tag.strip_prefix(YAML_TAG) {
            Some(name) if fitting.contains(&name) => Ok(()),
            None if tag == "!" => Ok(()),
            Some(
                "str" | "int" | "float" | "bool" | "null" | "binary" | "timestamp" | "seq" | "map"
                | "set" | "omap" | "pairs",
            ) => Err(self.error(YamlErrorKind::MisplacedTag(as_written(&tag)), node)),
            _ => Err(self.error(YamlErrorKind::UnknownTag(as_written(&tag)), node)),
        }
    }

    fn error(&self, kind: YamlErrorKind, node: &Node<'a>) -> YamlError {
        YamlError::new(kind, node.at, self.tree.text)
    }
}

/// A tag as the author wrote it.
fn as_written(tag: &str) -> String {
    match tag.strip_prefix(YAML_TAG) {
        Some(name) => format!("!!{name}"),
        None => tag.to_owned(),
    }
}
