//! `-o name`: what the things in a result are called, one a line.

use serde_json::Value;

use crate::terminal::text;

/// The lists of results: pages, and trees of resources.
const LISTS: [&str; 2] = ["items", "resources"];
/// What commands take as the name of a thing, the best first.
const NAMES: [&str; 6] = [
    "name",
    "id",
    "revision",
    "deployment",
    "instance",
    "binding",
];

/// A line for each thing of the document. None if it has something without a name.
pub fn of(document: &Value) -> Option<String> {
    match document {
        Value::Array(things) => things.iter().map(of).collect(),
        _ => named(document).or_else(|| of(LISTS.iter().find_map(|list| document.get(list))?)),
    }
}

fn named(thing: &Value) -> Option<String> {
    let name = match object(thing) {
        Some(name) => name,
        None => NAMES.iter().find_map(|key| plain(thing.get(key)?))?,
    };
    Some(text::line(&name) + "\n")
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `deployment.apps/web`, as kubectl writes the name of an object.
fn object(thing: &Value) -> Option<String> {
    let field = |pointer| thing.pointer(pointer).and_then(Value::as_str);
    let kind = field("/kind")?.to_lowercase();
    // The live resources of a deployment have it without metadata.
    let name = field("/metadata/name").or_else(|| field("/name"))?;
    let group = field("/apiVersion")?
        .split_once('/')
        .map(|(group, _)| group);
    let group = group.map_or_else(String::new, |group| format!(".{group}"));
    Some(format!("{kind}{group}/{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_are_those_that_commands_take() {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}});
        let workload =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}});
        for (document, names) in [
            (json!({"name": "web", "id": "1", "resources": []}), "web\n"),
            (json!({"items": [{"name": "a"}, {"id": "op"}]}), "a\nop\n"),
            (json!({"items": []}), ""),
            (json!({"items": [{"revision": 3, "manifest": "m"}]}), "3\n"),
            (
                json!({"resources": [{"name": "a", "resources": [{"name": "b"}]}]}),
                "a\n",
            ),
            (
                json!({"kind": "List", "apiVersion": "v1", "items": [service, workload]}),
                "service/x\ndeployment.apps/x\n",
            ),
            (
                json!({"items": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "resource": "r"}]}),
                "deployment.apps/x\n",
            ),
            (json!({"name": "a\u{1b}[2J"}), "a\\u{1b}[2J\n"),
        ] {
            assert_eq!(of(&document).as_deref(), Some(names), "{document}");
        }
        for nameless in [json!({"valid": true}), json!([1]), json!({"items": [{}]})] {
            assert_eq!(of(&nameless), None, "{nameless}");
        }
    }
}
