//! Values that are known only once something is applied: taken from the live object where it has them, else left out.

use serde_json::{Map, Value};

use crate::plan::{self, Path};

/// An object of which all is known.
#[derive(Debug, Default, PartialEq)]
pub struct Known {
    pub object: Value,
    /// Where a value is not known.
    pub unknown: Vec<Path>,
}

/// Puts in what `lookup` knows, by a reference's text.
pub fn fill(
    template: &Value,
    live: Option<&Value>,
    lookup: &impl Fn(&str) -> Option<Value>,
) -> Known {
    let mut unknown = Vec::new();
    let object = filled(template, live, lookup, Path::default(), &mut unknown);
    Known {
        object: object.unwrap_or_default(),
        unknown,
    }
}

fn filled(
    value: &Value,
    live: Option<&Value>,
    lookup: &impl Fn(&str) -> Option<Value>,
    path: Path,
    unknown: &mut Vec<Path>,
) -> Option<Value> {
    match value {
        Value::String(text) if text.contains("$(ref.") => {
            let known = plan::substitute(value, lookup);
            if known != *value {
                return Some(known);
            }
            unknown.push(path);
            live.cloned()
        }
        Value::Array(items) => {
            let fill = |(index, item): (usize, &Value)| {
                let live = partner(item, index, live);
                filled(item, live, lookup, path.index(index), unknown)
            };
            Some(items.iter().enumerate().filter_map(fill).collect())
        }
        Value::Object(map) => {
            let fill = |(key, item): (&String, &Value)| {
                let live = live.and_then(|live| live.get(key));
                Some((
                    key.clone(),
                    filled(item, live, lookup, path.key(key), unknown)?,
                ))
            };
            Some(Value::Object(
                map.iter().filter_map(fill).collect::<Map<_, _>>(),
            ))
        }
        plain => Some(plain.clone()),
    }
}

/// The live item that this one is: by its name, if it has one, else by its place.
fn partner<'v>(item: &Value, index: usize, live: Option<&'v Value>) -> Option<&'v Value> {
    let items = live?.as_array()?;
    match item.get("name") {
        Some(name) => items.iter().find(|live| live.get("name") == Some(name)),
        None => items.get(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_stays_as_it_is_or_away() {
        let template = json!({"a": "$(ref.x.known)", "b": "$(ref.x.new)", "items": [{"name": "n", "v": "$(ref.x.new)"}], "c": "v-$(ref.x.new)"});
        let live = json!({"b": 1, "items": [{"name": "m", "v": 0}, {"name": "n", "v": 2}]});
        let lookup = |text: &str| (text == "$(ref.x.known)").then(|| json!(80));
        let known = fill(&template, Some(&live), &lookup);
        assert_eq!(
            known.object,
            json!({"a": 80, "b": 1, "items": [{"name": "n", "v": 2}]})
        );
        let unknown: Vec<String> = known.unknown.iter().map(Path::to_string).collect();
        assert_eq!(unknown, ["b", "items[0].v", "c"]);
    }
}
