//! What `dm process` prints.

use serde_json::{Value, json};

use super::{go_template, json_path};
use crate::error::Failure;
use crate::terminal::format;
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

/// How the objects of a processed Template are printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    pub form: Form,
    /// Each object is a document, instead of one `List`.
    pub raw: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Json,
    Yaml,
    Name,
    Describe,
    JsonPath(String),
    GoTemplate(String),
}

/// The objects of a processed Template.
pub fn objects(processed: &Value, style: &Style) -> Result<String, Failure> {
    let objects = items(processed, "objects");
    let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": objects});
    let all = match style.raw {
        true => objects,
        false => std::slice::from_ref(&list),
    };
    match &style.form {
        Form::Name => Ok(objects.iter().map(name).collect()),
        Form::Describe => Ok(description(processed)),
        Form::Yaml => documents(all, "---\n", format::yaml),
        Form::Json => documents(all, "", format::json),
        Form::JsonPath(expression) => documents(all, "", |document: &Value| {
            json_path::render(expression, document)
                .map_err(|error| Failure::usage(error.to_string()))
        }),
        Form::GoTemplate(template) => documents(all, "", |document: &Value| {
            go_template::render(template, document)
                .map_err(|error| Failure::usage(error.to_string()))
        }),
    }
}

fn documents<E>(
    all: &[Value],
    between: &str,
    write: impl Fn(&Value) -> Result<String, E>,
) -> Result<String, Failure>
where
    Failure: From<E>,
{
    let written: Result<Vec<_>, E> = all.iter().map(write).collect();
    Ok(written?.join(between))
}

fn items<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    let list = document.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// `deployment.apps/web`, as kubectl writes it.
fn name(object: &Value) -> String {
    let text = |pointer| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let kind = text("/kind").to_lowercase();
    let group = text("/apiVersion").split_once('/').map(|(group, _)| group);
    let group = group.map(|group| format!(".{group}")).unwrap_or_default();
    text::line(&format!("{kind}{group}/{}", text("/metadata/name"))) + "\n"
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
    let names: String = items(processed, "objects").iter().map(name).collect();
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

    #[test]
    fn objects_are_one_list_or_documents() {
        let print = |form, raw| objects(&processed(), &Style { form, raw }).unwrap();
        let list: Value = serde_json::from_str(&print(Form::Json, false)).unwrap();
        assert_eq!(
            (&list["kind"], &list["items"]),
            (&json!("List"), &processed()["objects"])
        );
        assert_eq!(print(Form::Name, false), "service/x\ndeployment.apps/x\n");
        let documents = print(Form::Yaml, true);
        let documents: Vec<_> = documents.split("---\n").collect();
        assert_eq!(documents.len(), 2);
        assert!(
            documents[1].starts_with("apiVersion: apps/v1\n"),
            "{documents:?}"
        );
        let mut documents = serde_json::Deserializer::from_str(&print(Form::Json, true))
            .into_iter::<Value>()
            .map(Result::unwrap)
            .collect::<Vec<_>>();
        assert_eq!(documents.pop().unwrap()["kind"], "Deployment");
    }

    #[test]
    fn an_expression_sees_the_list_or_each_object() {
        let print = |form, raw| objects(&processed(), &Style { form, raw }).unwrap();
        let path = |path: &str| Form::JsonPath(path.to_owned());
        assert_eq!(
            print(path("{.items[*].kind}\n"), false),
            "Service Deployment\n"
        );
        assert_eq!(print(path("{.kind} "), true), "Service Deployment ");
        let template = Form::GoTemplate("{{.kind}} ".to_owned());
        assert_eq!(print(template.clone(), true), "Service Deployment ");
        assert_eq!(print(template, false), "List ");
    }

    #[test]
    fn a_description_has_all_parts() {
        let style = Style {
            form: Form::Describe,
            raw: false,
        };
        insta::assert_snapshot!(objects(&processed(), &style).unwrap(), @r"
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
