//! What `dm process` prints.

use serde_json::{Value, json};

use crate::error::Failure;
use crate::terminal::format::{Form, Format, names};
use crate::terminal::table::Table;
use crate::terminal::text;

/// The parameters of a Template.
pub fn parameters(template: &Value, width: Option<usize>) -> String {
    let mut table = Table::new(&["NAME", "DESCRIPTION", "GENERATOR", "VALUE"]);
    for parameter in items(template, "parameters") {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default();
        let value = match parameter["generate"].is_string() {
            true => text("from"),
            false => text("value"),
        };
        table.row([text("name"), text("description"), text("generate"), value]);
    }
    table.render(width)
}

/// The objects of a processed Template: each as a document if `raw` is set, else one `List`.
pub fn objects(processed: &Value, form: &Form, raw: bool) -> Result<String, Failure> {
    let objects = items(processed, "objects");
    let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": objects});
    let all = match raw {
        true => objects,
        false => std::slice::from_ref(&list),
    };
    let between = match form {
        Form::Words(Format::Describe) => return Ok(description(processed)),
        Form::Yaml => "---\n",
        _ => "",
    };
    let form = match form {
        Form::Words(_) => &Form::Json,
        form => form,
    };
    let written = all.iter().map(|document| form.write(document));
    let written: Vec<_> = written.collect::<Result<_, _>>()?;
    Ok(written
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(between))
}

fn items<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    let list = document.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// A processed Template for users.
fn description(processed: &Value) -> String {
    let text = |pointer| {
        processed
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let labels = processed["labels"].as_object().into_iter().flatten();
    let labels: Vec<_> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    let mut table = Table::new(&["NAME", "DESCRIPTION", "VALUE"]);
    for parameter in items(processed, "parameters") {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default();
        table.row([text("name"), text("description"), text("value")]);
    }
    let names = names::of(&processed["objects"]).unwrap_or_default();
    format!(
        "Name: {}\nNamespace: {}\nDescription: {}\n\nParameters:\n{}\nObject labels: {}\n\nMessage: {}\n\nObjects:\n{}",
        text::line(text("/metadata/name")),
        text::line(text("/metadata/namespace")),
        text::lines(text("/metadata/annotations/description")),
        indented(&table.render(None)),
        text::line(&labels.join(",")),
        text::lines(text("/message")),
        indented(&names),
    )
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::format::Output;

    fn processed() -> Value {
        json!({
            "kind": "Template", "metadata": {"name": "web", "annotations": {"description": "A server"}},
            "labels": {"app": "web"}, "message": "Ready.",
            "parameters": [{"name": "A", "description": "First", "value": "x"}],
            "objects": [
                {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}},
                {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}},
            ],
        })
    }

    fn print(format: Format, expression: Option<&str>, raw: bool) -> String {
        let output = Output {
            format,
            expression: expression.map(str::to_owned),
        };
        objects(&processed(), &Form::new(&output).unwrap(), raw).unwrap()
    }

    #[test]
    fn objects_are_one_list_or_documents() {
        for format in [Format::Json, Format::Table] {
            let list: Value = serde_json::from_str(&print(format, None, false)).unwrap();
            assert_eq!(
                (&list["kind"], &list["items"]),
                (&json!("List"), &processed()["objects"])
            );
        }
        for raw in [true, false] {
            let names = "service/x\ndeployment.apps/x\n";
            assert_eq!(print(Format::Name, None, raw), names);
        }
        let documents = print(Format::Yaml, None, true);
        let documents: Vec<_> = documents.split("---\n").collect();
        assert_eq!(documents.len(), 2);
        assert!(
            documents[1].starts_with("apiVersion: apps/v1\n"),
            "{documents:?}"
        );
        let mut documents = serde_json::Deserializer::from_str(&print(Format::Json, None, true))
            .into_iter::<Value>()
            .map(Result::unwrap)
            .collect::<Vec<_>>();
        assert_eq!(documents.pop().unwrap()["kind"], "Deployment");
    }

    #[test]
    fn an_expression_sees_the_list_or_each_object() {
        let path = |path, raw| print(Format::JsonPath, Some(path), raw);
        assert_eq!(path("{.items[*].kind}\n", false), "Service Deployment\n");
        assert_eq!(path("{.kind} ", true), "Service Deployment ");
        let template = |raw| print(Format::GoTemplate, Some("{{.kind}} "), raw);
        assert_eq!(template(true), "Service Deployment ");
        assert_eq!(template(false), "List ");
    }

    #[test]
    fn a_description_has_all_parts() {
        insta::assert_snapshot!(print(Format::Describe, None, false), @r"
        Name: web
        Namespace: 
        Description: A server

        Parameters:
          NAME  DESCRIPTION  VALUE
          A     First        x

        Object labels: app=web

        Message: Ready.

        Objects:
          service/x
          deployment.apps/x
        ");
    }

    #[test]
    fn parameters_show_their_generator() {
        let template = json!({"parameters": [
            {"name": "A", "description": "First", "value": "x"},
            {"name": "B", "generate": "expression", "from": "[a-z]{3}"},
        ]});
        insta::assert_snapshot!(parameters(&template, None), @r"
        NAME  DESCRIPTION  GENERATOR   VALUE
        A     First                    x
        B                  expression  [a-z]{3}
        ");
    }
}
