//! The uses of a template in a deployment, and the configuration with another version of it.
//!
//! A reference in the configuration's text is replaced in place, and comments and all else stay. A reference in an
//! imported template is replaced if it is alone on its line (`type: redis:v1`). References in a template of a registry
//! belong to the owner of that template.

mod rename;

use std::collections::{BTreeMap, BTreeSet};

use common::api::upgrade::TemplateUse;
use common::model::{Import, InputConfig, Layout, LayoutNode, LayoutPath, ResolvedType, TypeName};
use common::yaml::{self, Limits, ReplaceError, Replacement};
use serde_json::Value;

pub use rename::rename;

/// The references to one template, each with the reference to the other version.
pub type References = BTreeMap<TypeName, TypeName>;

/// The reference with another version. None if it has no version.
pub fn at_version(reference: &TypeName, version: &str) -> Option<TypeName> {
    let (path, _) = reference.as_str().rsplit_once(':')?;
    TypeName::parse(format!("{path}:{version}")).ok()
}

/// Every use, in the layout's order.
pub fn of_layout(
    layout: &Layout,
    resolved: &[ResolvedType],
    input: &InputConfig,
    references: &References,
) -> Vec<TemplateUse> {
    let plain = plain_references(input);
    let found = layout.walk().into_iter();
    found
        .filter_map(|(path, node)| {
            let to = references.get(&node.type_name)?;
            let resolved = resolved.iter().find(|r| r.type_name == node.type_name)?;
            Some(TemplateUse {
                type_name: node.type_name.clone(),
                version: resolved.version.clone(),
                owner: owner(layout, &path, node, &plain),
                path,
                to: to.clone(),
            })
        })
        .collect()
}

/// The names of imports, each with the references that can be rewritten in it. Many uses may stand in one import, so
/// each import is read once.
fn plain_references(input: &InputConfig) -> BTreeSet<(&str, &str)> {
    let references = input.imports.iter().flat_map(|import| {
        let found = import.content.lines().filter_map(reference_in);
        found.map(|(_, reference)| (import.name.as_str(), reference))
    });
    references.collect()
}

/// The template that contains a use, if the use cannot be rewritten there.
fn owner(
    layout: &Layout,
    path: &LayoutPath,
    node: &LayoutNode,
    plain: &BTreeSet<(&str, &str)>,
) -> Option<TypeName> {
    let parent = layout.at(&path.parent()?)?;
    let is_plain = plain.contains(&(parent.type_name.as_str(), node.type_name.as_str()));
    (!is_plain).then(|| parent.type_name.clone())
}

/// The configuration with the new references.
pub fn rewritten(
    input: &InputConfig,
    references: &References,
) -> Result<InputConfig, ReplaceError> {
    let limits = Limits::DEFAULT;
    let replacements = replacements(&input.content, references, &limits)?;
    let schema = |import: &Import| import.name.ends_with(".schema");
    let import = |import: &Import| Import {
        content: match schema(import) {
            true => import.content.clone(),
            false => lines(&import.content, references),
        },
        ..import.clone()
    };
    Ok(InputConfig {
        content: yaml::replace(&input.content, &replacements, &limits)?,
        imports: input.imports.iter().map(import).collect(),
    })
}

fn replacements(
    content: &str,
    references: &References,
    limits: &Limits,
) -> Result<Vec<Replacement>, ReplaceError> {
    let read = yaml::read(content, limits, yaml::Duplicates::Warn)?.value;
    let resources = read.get("resources").and_then(Value::as_array);
    let types = resources.into_iter().flatten().enumerate();
    let replacement = |(index, resource): (usize, &Value)| {
        let from = resource.get("type")?.as_str()?;
        let to = references.get(&TypeName::parse(from).ok()?)?;
        (from != to.as_str()).then(|| Replacement {
            pointer: format!("/resources/{index}/type"),
            from: from.to_owned(),
            to: to.to_string(),
        })
    };
    Ok(types.filter_map(replacement).collect())
}

/// A template's text, which need not be YAML, with the references that are alone on their lines.
fn lines(text: &str, references: &References) -> String {
    let line = |line: &str| {
        let (at, found) = reference_in(line)?;
        let to = references.get(&TypeName::parse(found).ok()?)?;
        let (before, after) = (line.get(..at)?, line.get(at + found.len()..)?);
        Some(format!("{before}{to}{after}"))
    };
    text.split_inclusive('\n')
        .map(|old| line(old).unwrap_or_else(|| old.to_owned()))
        .collect()
}

/// The value after `type:` on a line with nothing else except a comment, and its position in the line.
fn reference_in(line: &str) -> Option<(usize, &str)> {
    let begins = line.trim_start_matches([' ', '\t', '-']);
    let value = begins.strip_prefix("type:")?.trim_start();
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
    let (text, rest) = match quote {
        Some(quote) => value.get(1..)?.split_once(quote)?,
        None => {
            let end = value.find(char::is_whitespace).unwrap_or(value.len());
            value.split_at_checked(end)?
        }
    };
    let rest = rest.trim();
    let at = line.len() - value.len() + usize::from(quote.is_some());
    (rest.is_empty() || rest.starts_with('#')).then_some((at, text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn references() -> References {
        let name = |text: &str| TypeName::parse(text).unwrap();
        let pair = |from: &str| (name(from), at_version(&name(from), "v1.1").unwrap());
        [pair("redis:v1"), pair("default/redis:v1.0.1")].into()
    }

    fn input(content: &str, imports: &[(&str, &str)]) -> InputConfig {
        let import = |(name, content): &(&str, &str)| Import {
            name: (*name).to_owned(),
            path: None,
            content: (*content).to_owned(),
        };
        InputConfig {
            content: content.to_owned(),
            imports: imports.iter().map(import).collect(),
        }
    }

    #[test]
    fn a_line_of_its_own_is_found_and_nothing_else() {
        for (line, found) in [
            ("type: redis:v1", Some("redis:v1")),
            ("  - type: \"redis:v1\"  # ours", Some("redis:v1")),
            ("  type:   'redis:v1'", Some("redis:v1")),
            ("  type: redis:v1\r\n", Some("redis:v1")),
            ("  'type': 'redis:v1',", None),
            ("  type: redis:{{ version }}", None),
            ("  mytype: redis:v1", None),
            ("  type: redis:v1, name: a", None),
            ("# type: redis:v1", None),
        ] {
            assert_eq!(reference_in(line).map(|(_, text)| text), found, "{line}");
        }
    }

    #[test]
    fn references_are_rewritten_where_they_stand_and_comments_stay() {
        let content = "# mine\nresources:\n- name: a\n  type: redis:v1 # pinned\n- {name: b, type: default/redis:v1.0.1}\n- name: c\n  type: ConfigMap\n  properties: {data: {type: redis:v1}}\n";
        let template =
            "{% for n in range(2) %}\n- name: r{{ n }}\n  type: redis:v1\n{% endfor %}\n";
        let after = rewritten(&input(content, &[("own.jinja", template)]), &references()).unwrap();
        let expected = content
            .replacen("redis:v1 #", "redis:v1.1 #", 1)
            .replace("redis:v1.0.1", "redis:v1.1");
        assert_eq!(after.content, expected);
        assert_eq!(
            after.imports[0].content,
            template.replace("redis:v1", "redis:v1.1")
        );
    }

    #[test]
    fn what_a_template_of_a_registry_refers_to_is_its_owners() {
        let use_of = |name: &str| json!({"name": name, "type": "redis:v1", "properties": {}, "resources": []});
        let layout = json!({"resources": [
            use_of("top"),
            {"name": "own", "type": "own.jinja", "properties": {}, "resources": [use_of("plain")]},
            {"name": "made", "type": "made.py", "properties": {}, "resources": [use_of("computed")]},
            {"name": "app", "type": "app:v1", "properties": {}, "resources": [use_of("theirs")]},
        ]});
        let layout: Layout = serde_json::from_value(layout).unwrap();
        let resolved =
            json!([{"type": "redis:v1", "version": "v1.0.1", "url": "u", "sha256": "s"}]);
        let resolved: Vec<ResolvedType> = serde_json::from_value(resolved).unwrap();
        let imports = [
            ("own.jinja", "  type: redis:v1\n"),
            ("made.py", "{'type': 'redis:v1'}"),
        ];
        let uses = of_layout(&layout, &resolved, &input("", &imports), &references());
        let reported: Vec<_> = uses
            .iter()
            .map(|used| {
                (
                    used.path.to_string(),
                    used.owner.as_ref().map(TypeName::as_str),
                )
            })
            .collect();
        let expected = [
            ("$.resources[0]".to_owned(), None),
            ("$.resources[1].resources[0]".to_owned(), None),
            ("$.resources[2].resources[0]".to_owned(), Some("made.py")),
            ("$.resources[3].resources[0]".to_owned(), Some("app:v1")),
        ];
        assert_eq!(reported, expected);
        // A type with the name of an import was never looked up in a registry.
        assert!(of_layout(&layout, &[], &input("", &[]), &references()).is_empty());
    }
}
