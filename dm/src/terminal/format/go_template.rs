//! `-o go-template=…`, as `kubectl` has it.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{Call, Function, Numbers, Type, Value};
use expandybird_gotemplate::{Options, Session, Set, execute};

/// The functions that `kubectl` adds to Go's own.
const FUNCTIONS: &[Function] = &[
    Function::new("base64decode", &[Type::String], decoded),
    Function::variadic("exists", &[Type::Any], Type::Any, exists),
];

/// What errors call the template, as `kubectl` does.
const NAME: &str = "output";

/// Why a template cannot be printed.
#[derive(Debug, thiserror::Error)]
#[error("the Go template: {0}")]
pub struct GoTemplateError(String);

impl GoTemplateError {
    fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// A template.
#[derive(Debug)]
pub struct GoTemplate(Set);

impl GoTemplate {
    /// # Errors
    /// The text is not a template.
    pub fn parse(text: &str) -> Result<Self, GoTemplateError> {
        let functions = FunctionTable::default().with(FUNCTIONS);
        let mut set = Set::new(NAME, Arc::new(functions), Options::default());
        set.parse(NAME, text).map_err(GoTemplateError::new)?;
        Ok(Self(set))
    }

    /// The text that it makes of a document.
    ///
    /// # Errors
    /// Its execution fails.
    pub fn render(&self, document: &serde_json::Value) -> Result<String, GoTemplateError> {
        let data = Value::from_json(document, Numbers::Floats);
        let mut session = Session::new(Limits::default(), ());
        let text = execute(&self.0, &mut session, NAME, &data).map_err(GoTemplateError::new)?;
        String::from_utf8(text).map_err(GoTemplateError::new)
    }
}

fn decoded(call: &mut Call<'_>) -> Result<Value, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    match STANDARD.decode(&**text) {
        Ok(bytes) => Ok(Value::string(bytes)),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

/// Whether `index` with the same arguments finds something.
fn exists(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut value = call.argument(0)?.clone();
    for index in call.rest() {
        let next = match (&value, index) {
            (Value::Map(map), Value::String(key)) => map.get(key),
            (Value::List(list), Value::Int(_, place)) => usize::try_from(*place)
                .ok()
                .and_then(|place| list.items().get(place).cloned()),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => return Ok(Value::Bool(false)),
        }
    }
    Ok(Value::Bool(!matches!(value, Value::Nil)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(template: &str, document: &serde_json::Value) -> Result<String, GoTemplateError> {
        GoTemplate::parse(template)?.render(document)
    }

    #[test]
    fn a_template_prints_what_go_prints() {
        let document = json!({"kind": "List", "items": [
            {"metadata": {"name": "web"}, "spec": {"replicas": 3}, "data": {"p": "czNjcmV0"}},
            {"metadata": {"name": "db"}},
        ]});
        for (template, expected) in [
            ("{{range .items}}{{.metadata.name}}\n{{end}}", "web\ndb\n"),
            ("{{(index .items 0).spec.replicas}}", "3"),
            ("{{.nothing}}", "<no value>"),
            ("{{(index .items 0).data.p | base64decode}}", "s3cret"),
            (
                "{{range .items}}{{exists . \"spec\" \"replicas\"}} {{end}}",
                "true false ",
            ),
            ("{{len .items}} {{printf \"%q\" .kind}}", "2 \"List\""),
        ] {
            assert_eq!(render(template, &document).unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused_with_gos_reason() {
        for template in ["{{range .items}}", "{{.kind.name}}", "{{nothing}}"] {
            let error = render(template, &json!({"kind": "List"})).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("the Go template: template: output:1"),
                "{error}"
            );
        }
    }
}
