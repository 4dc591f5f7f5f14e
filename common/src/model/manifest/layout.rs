//! The layout: the tree of template instances and primitives of an expansion.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::hook::HookEvent;
use crate::model::name::{ResourceName, TypeName};

/// The tree of template instances and primitives in an expanded configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Layout {
    /// The resources of the configuration itself.
    #[serde(default)]
    pub resources: Vec<LayoutNode>,
}

/// One resource of the tree. Only template instances have `properties` and `resources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutNode {
    /// Unique among its siblings.
    pub name: ResourceName,
    /// As the configuration or template writes it.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// The input of a template instance, with the defaults of its schema. Absent for primitives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
    /// What the template expanded to. Absent for primitives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<LayoutNode>>,
    /// What the template says to its user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The file of a chart that has the resource, such as `web/charts/db/templates/service.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it runs, if it is a hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook: Vec<HookEvent>,
    /// Where it is written. Absent in manifests of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The file with a resource: the configuration, under the name of its deployment, or a file of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Origin {
    /// Its path as the configuration or the registry names it.
    pub file: String,
    /// The line where the resource begins, from 1. Absent where a program makes the resource, or where several lines may have
    /// written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

impl Layout {
    /// Every node with its path, parents before children, in the order of the configuration.
    pub fn walk(&self) -> Vec<(LayoutPath, &LayoutNode)> {
        let mut found = Vec::new();
        walk_into(&self.resources, &LayoutPath::root(), &mut found);
        found
    }

    /// [`Self::at`] for changes.
    pub fn at_mut(&mut self, path: &LayoutPath) -> Option<&mut LayoutNode> {
        let (first, rest) = path.0.split_first()?;
        rest.iter()
            .try_fold(self.resources.get_mut(*first)?, |node, &index| {
                node.resources.as_deref_mut()?.get_mut(index)
            })
    }

    /// The node at a path, if there is one. The root is not a node.
    pub fn at(&self, path: &LayoutPath) -> Option<&LayoutNode> {
        let (first, rest) = path.0.split_first()?;
        rest.iter()
            .try_fold(self.resources.get(*first)?, |node, &index| {
                node.resources.as_deref()?.get(index)
            })
    }
}

fn walk_into<'a>(
    nodes: &'a [LayoutNode],
    parent: &LayoutPath,
    found: &mut Vec<(LayoutPath, &'a LayoutNode)>,
) {
    for (index, node) in nodes.iter().enumerate() {
        let path = parent.child(index);
        found.push((path.clone(), node));
        walk_into(node.resources.as_deref().unwrap_or_default(), &path, found);
    }
}

/// [`LayoutPath::parse`] as a pattern, for the schemas of the API.
const LAYOUT_PATTERN: &str = r"^\$(\.resources\[[0-9]{1,18}\])*$";

/// A JSON path into a layout, such as `$.resources[0].resources[1]`. `$` is the whole layout.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = LAYOUT_PATTERN))]
pub struct LayoutPath(Vec<usize>);

/// A secret value in the properties of a resource. No answer contains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SecretValue {
    /// The template instance that has the property. `$` for an instance that is in no layout.
    pub path: LayoutPath,
    /// The place in its properties: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// A text, or a whole tree of texts.
    pub value: Value,
}

/// A text that is not a layout path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a layout path: write it like $.resources[0].resources[1]")]
pub struct LayoutPathError(String);

impl LayoutPath {
    /// `$`, the whole layout.
    pub fn root() -> Self {
        Self::default()
    }

    /// The index in the configuration's own list, for a path of one step.
    pub fn top(&self) -> Option<usize> {
        match self.0[..] {
            [index] => Some(index),
            _ => None,
        }
    }

    /// `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_last()?;
        Some(Self(above.to_vec()))
    }

    /// Adds `.resources[INDEX]`. It need not exist in a layout.
    pub fn child(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(index);
        Self(steps)
    }

    /// # Errors
    /// The text is not `$` with any number of `.resources[INDEX]` after it.
    pub fn parse(text: &str) -> Result<Self, LayoutPathError> {
        let refused = || LayoutPathError(text.chars().take(80).collect());
        let mut rest = text.strip_prefix('$').ok_or_else(refused)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (index, after) = rest
                .strip_prefix(".resources[")
                .and_then(|step| step.split_once(']'))
                .filter(|(index, _)| index.bytes().all(|digit| digit.is_ascii_digit()))
                .ok_or_else(refused)?;
            steps.push(index.parse().map_err(|_| refused())?);
            rest = after;
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for LayoutPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0
            .iter()
            .try_for_each(|index| write!(f, ".resources[{index}]"))
    }
}

impl TryFrom<String> for LayoutPath {
    type Error = LayoutPathError;
    fn try_from(text: String) -> Result<Self, LayoutPathError> {
        Self::parse(&text)
    }
}

impl From<LayoutPath> for String {
    fn from(path: LayoutPath) -> String {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        serde_json::from_value(serde_json::json!({"resources": [
            {"name": "a", "type": "Service"},
            {"name": "b", "type": "t.py", "properties": {}, "resources": [{"name": "c", "type": "Pod"}]},
        ]}))
        .unwrap()
    }

    #[test]
    fn a_walk_meets_parents_before_children_and_names_their_paths() {
        let layout = layout();
        let met: Vec<_> = layout
            .walk()
            .into_iter()
            .map(|(path, node)| format!("{path} {}", node.name))
            .collect();
        assert_eq!(
            met,
            [
                "$.resources[0] a",
                "$.resources[1] b",
                "$.resources[1].resources[0] c"
            ]
        );
    }

    #[test]
    fn every_path_of_a_walk_parses_and_leads_back_to_its_node() {
        let layout = layout();
        for (path, node) in layout.walk() {
            let parsed = LayoutPath::parse(&path.to_string()).unwrap();
            assert_eq!(layout.at(&parsed), Some(node));
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for bad in [
            "",
            "resources[0]",
            "$.resources",
            "$.resources[x]",
            "$.resources[0",
            "$[0]",
            "$.resources[-1]",
            "$.resources[+1]",
            "$.resources[]",
        ] {
            assert!(LayoutPath::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(LayoutPath::parse("$"), Ok(LayoutPath::root()));
    }
}
