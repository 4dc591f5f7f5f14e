//! Parses text to a tree of nodes with their locations.
//!
//! Responsible for syntax: documents, nesting, anchors. It does not know scalars or tags. Aliases stay references, so a
//! tree is never larger than its text. The stack of open collections is explicit, so nesting needs no native stack.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::Limits;
use super::error::{Location, YamlError, YamlErrorKind};
use super::respace::respace;

/// The index of a node in its tree.
pub(super) type NodeId = usize;

pub(super) struct Node<'a> {
    pub kind: NodeKind<'a>,
    pub tag: Option<Cow<'a, Tag>>,
    pub at: Location,
}

pub(super) enum NodeKind<'a> {
    Scalar { text: Cow<'a, str>, plain: bool },
    List(Vec<NodeId>),
    Map(Vec<(NodeId, NodeId)>),
    Alias(NodeId),
}

impl Node<'_> {
    /// The error without its text, at its location in another text.
    fn owned<'b>(self, place: impl Fn(Location) -> Location) -> Node<'b> {
        let kind = match self.kind {
            NodeKind::Scalar { text, plain } => NodeKind::Scalar {
                text: Cow::Owned(text.into_owned()),
                plain,
            },
            NodeKind::List(items) => NodeKind::List(items),
            NodeKind::Map(entries) => NodeKind::Map(entries),
            NodeKind::Alias(target) => NodeKind::Alias(target),
        };
        Node {
            kind,
            tag: self.tag.map(|tag| Cow::Owned(tag.into_owned())),
            at: place(self.at),
        }
    }
}

/// All nodes of a text and the roots of its documents.
pub(super) struct Tree<'a> {
    /// The parsed text: without the byte order mark.
    pub text: &'a str,
    pub nodes: Vec<Node<'a>>,
    pub roots: Vec<NodeId>,
}

impl<'a> Tree<'a> {
    /// The node itself, or the target of an alias.
    pub fn target(&self, id: NodeId) -> &Node<'a> {
        match self.nodes[id].kind {
            // An alias refers to an anchored node, and an alias cannot have an anchor.
            NodeKind::Alias(target) => &self.nodes[target],
            _ => &self.nodes[id],
        }
    }
}

/// Parses all documents of `text`.
pub(super) fn compose<'a>(text: &'a str, limits: &Limits) -> Result<Tree<'a>, YamlError> {
    if text.len() > limits.bytes {
        let kind = YamlErrorKind::TooLarge {
            limit: limits.bytes,
        };
        return Err(YamlError::new(kind, Location::START, ""));
    }
    let text = body(text);
    refuse_control_characters(text)?;
    parse(text, limits).or_else(|error| match &error.kind {
        YamlErrorKind::Syntax(_) => again(text, limits).unwrap_or(Err(error)),
        _ => Err(error),
    })
}

fn parse<'a>(text: &'a str, limits: &Limits) -> Result<Tree<'a>, YamlError> {
    let mut composer = Composer {
        limits,
        tree: Tree {
            text,
            nodes: Vec::new(),
            roots: Vec::new(),
        },
        open: Vec::new(),
        anchors: HashMap::new(),
        unterminated_at: unterminated_end(text),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| composer.syntax_error(&e))?;
        composer.accept(event, span)?;
    }
    Ok(composer.tree)
}

/// The byte offset of each scalar, by its node. `None` for other nodes. For a text that [`compose`] accepts without
/// added spaces.
pub(super) fn spans(text: &str) -> Option<Vec<Option<Range<usize>>>> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let byte = |mark: Marker| places.get(mark.index()).copied().unwrap_or(text.len());
    let mut spans = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        match event {
            Event::Scalar(..) => spans.push(Some(byte(span.start)..byte(span.end))),
            Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_) => {
                spans.push(None);
            }
            _ => {}
        }
    }
    Some(spans)
}

/// The text with the spaces that PyYAML does not require. `None` if none are missing.
fn again<'a>(text: &'a str, limits: &Limits) -> Option<Result<Tree<'a>, YamlError>> {
    let respaced = respace(text)?;
    let place = |at| respaced.original(at);
    Some(match parse(&respaced.text, limits) {
        Ok(tree) => Ok(Tree {
            text,
            nodes: tree
                .nodes
                .into_iter()
                .map(|node| node.owned(place))
                .collect(),
            roots: tree.roots,
        }),
        Err(error) => Err(YamlError::new(error.kind, place(error.location), text)),
    })
}

fn location(mark: Marker) -> Location {
    Location {
        line: mark.line().max(1),
        column: mark.col() + 1,
    }
}

/// The parser treats a NUL as the end of the text, which would hide the rest.
fn refuse_control_characters(text: &str) -> Result<(), YamlError> {
    let forbidden = |c: char| {
        matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
            && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
    };
    let Some((index, found)) = text.char_indices().find(|(_, c)| forbidden(*c)) else {
        return Ok(());
    };
    let before = &text[..index];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let location = Location {
        line: before.matches('\n').count() + 1,
        column: text[line_start..index].chars().count() + 1,
    };
    let kind = YamlErrorKind::ControlCharacter(u32::from(found));
    Err(YamlError::new(kind, location, text))
}

struct Composer<'t, 'a> {
    limits: &'t Limits,
    tree: Tree<'a>,
    open: Vec<Open>,
    anchors: HashMap<usize, NodeId>,
    unterminated_at: Option<usize>,
}

/// The text to parse. The byte order mark is not a character of the first line. Blanks after the last line break are
/// not a line, although the parser adds them to a block text before.
fn body(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let trimmed = text.trim_end_matches([' ', '\t']);
    let whole_lines = trimmed.is_empty() || trimmed.ends_with(['\n', '\r']);
    if whole_lines { trimmed } else { text }
}

/// The length of a text without a final line break, in characters. A block text at its end has no line break either,
/// although the parser adds one.
fn unterminated_end(text: &str) -> Option<usize> {
    let unterminated = !text.is_empty() && !text.ends_with(['\n', '\r']);
    unterminated.then(|| text.chars().count())
}

/// A collection that is still open.
struct Open {
    id: NodeId,
    /// The key whose value is next, in a map.
    key: Option<NodeId>,
}

impl<'a> Composer<'_, 'a> {
    fn accept(&mut self, event: Event<'a>, span: Span) -> Result<(), YamlError> {
        let at = location(span.start);
        match event {
            Event::Scalar(mut text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if block && self.unterminated_at == Some(span.end.index()) && text.ends_with('\n') {
                    text.to_mut().pop();
                }
                self.add(NodeKind::Scalar { text, plain }, anchor, tag, at)?;
            }
            Event::SequenceStart(anchor, tag) => {
                let id = self.add(NodeKind::List(Vec::new()), anchor, tag, at)?;
                self.enter(id, at)?;
            }
            Event::MappingStart(anchor, tag) => {
                let id = self.add(NodeKind::Map(Vec::new()), anchor, tag, at)?;
                self.enter(id, at)?;
            }
            Event::Alias(anchor) => {
                let target = self.target_of(anchor, at)?;
                self.add(NodeKind::Alias(target), 0, None, at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            // Anchors are valid within one document.
            Event::DocumentEnd => self.anchors.clear(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        Ok(())
    }

    fn add(
        &mut self,
        kind: NodeKind<'a>,
        anchor: usize,
        tag: Option<Cow<'a, Tag>>,
        at: Location,
    ) -> Result<NodeId, YamlError> {
        let id = self.tree.nodes.len();
        if id >= self.limits.nodes {
            let limit = self.limits.nodes;
            return Err(self.error(YamlErrorKind::TooManyNodes { limit }, at));
        }
        self.tree.nodes.push(Node { kind, tag, at });
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
        self.attach(id);
        Ok(id)
    }

    /// Adds a node to the open collection, or makes it the root of its document.
    fn attach(&mut self, id: NodeId) {
        let Some(open) = self.open.last_mut() else {
            self.tree.roots.push(id);
            return;
        };
        match &mut self.tree.nodes[open.id].kind {
            NodeKind::List(items) => items.push(id),
            NodeKind::Map(entries) => match open.key.take() {
                None => open.key = Some(id),
                Some(key) => entries.push((key, id)),
            },
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
        }
    }

    fn enter(&mut self, id: NodeId, at: Location) -> Result<(), YamlError> {
        let limit = self.limits.depth;
        if self.open.len() >= limit {
            return Err(self.error(YamlErrorKind::TooDeep { limit }, at));
        }
        self.open.push(Open { id, key: None });
        Ok(())
    }

    fn target_of(&self, anchor: usize, at: Location) -> Result<NodeId, YamlError> {
        let Some(&target) = self.anchors.get(&anchor) else {
            return Err(self.unknown_alias(at));
        };
        if self.open.iter().any(|open| open.id == target) {
            return Err(self.error(YamlErrorKind::RecursiveAlias, at));
        }
        Ok(target)
    }

    fn error(&self, kind: YamlErrorKind, at: Location) -> YamlError {
        YamlError::new(kind, at, self.tree.text)
    }

    fn unknown_alias(&self, at: Location) -> YamlError {
        let line = self.tree.text.lines().nth(at.line - 1).unwrap_or_default();
        let name = line
            .chars()
            .skip(at.column)
            .take_while(|c| !c.is_whitespace() && !",[]{}".contains(*c));
        self.error(YamlErrorKind::UnknownAlias(name.collect()), at)
    }

    fn syntax_error(&self, error: &ScanError) -> YamlError {
        let at = location(*error.marker());
        // The parser's errors differ only in their texts. Tests check these two.
        if error.info().contains("unknown anchor") {
            return self.unknown_alias(at);
        }
        if error.info() == "recursion limit exceeded" {
            let limit = self.limits.depth;
            return self.error(YamlErrorKind::TooDeep { limit }, at);
        }
        let line = self.tree.text.lines().nth(at.line - 1).unwrap_or_default();
        let indent_end = line.find(|c: char| !c.is_whitespace());
        if line[..indent_end.unwrap_or(line.len())].contains('\t') {
            return self.error(YamlErrorKind::TabIndent, at);
        }
        self.error(YamlErrorKind::Syntax(error.info().to_owned()), at)
    }
}
