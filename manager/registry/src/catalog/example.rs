//! The example of a template, in the form that a reader can deploy.
//!
//! Its author writes `redis:v1`, or `redis.jinja` for the template beside it. In a configuration the first means a
//! template of the default registry, and the second a file of the user. All other bytes of the example stay unchanged.

use common::model::{Scope, TypeName};
use common::yaml::{self, Duplicates, Limits, Replacement};
use serde_json::Value;

/// Replaces the types of resources by full references. `file` is the name of the template's file, and `type_name` the
/// reference of the caller.
///
/// An example that cannot be parsed stays as it is: a description shows what exists, and `dm test` reports the fault.
pub fn portable(text: String, type_name: &TypeName, file: &str, scope: Option<&Scope>) -> String {
    let meant = |written: &str| match scope {
        _ if written == file => Some(type_name.clone()),
        Some(scope) => scope.qualify(written),
        None => None,
    };
    let limits = Limits::DEFAULT;
    let Ok(read) = yaml::read(&text, &limits, Duplicates::Warn) else {
        return text;
    };
    let resources = read.value.get("resources").and_then(Value::as_array);
    let types = resources.into_iter().flatten().enumerate();
    let replacement = |(index, resource): (usize, &Value)| {
        let from = resource.get("type")?.as_str()?;
        let to = meant(from)?;
        Some(Replacement {
            pointer: format!("/resources/{index}/type"),
            from: from.to_owned(),
            to: to.to_string(),
        })
    };
    let replacements: Vec<_> = types.filter_map(replacement).collect();
    yaml::replace(&text, &replacements, &limits).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_an_example_are_written_as_they_are_meant() {
        let scope = Scope {
            registry: "shop".to_owned(),
            collection: Some("db".to_owned()),
        };
        let type_name = TypeName::parse("shop/db/redis:v1").unwrap();
        let text = "# ours\nresources:\n- {name: a, type: redis:v1.0.1} # pinned\n- name: b\n  type: 'redis.jinja'\n- {name: c, type: Service}\n- {name: d, type: github.com/o/r/x:v1}\n- {name: e}\n";
        let shown = portable(text.to_owned(), &type_name, "redis.jinja", Some(&scope));
        let expected = text
            .replace("redis:v1.0.1", "shop/db/redis:v1.0.1")
            .replace("redis.jinja", "shop/db/redis:v1");
        assert_eq!(shown, expected);
        let of_the_default = portable(text.to_owned(), &type_name, "redis.py", None);
        assert_eq!(of_the_default, text);
    }

    #[test]
    fn an_example_that_is_not_what_it_should_be_stays_as_it_is() {
        let scope = Scope {
            registry: "shop".to_owned(),
            collection: None,
        };
        let type_name = TypeName::parse("shop/a:v1").unwrap();
        for text in [
            "a: [",
            "",
            "- a",
            "resources: 7",
            "resources:\n- {name: a, type: \"a:\\x761\"}\n",
        ] {
            let shown = portable(text.to_owned(), &type_name, "a.py", Some(&scope));
            assert_eq!(shown, text);
        }
    }
}
