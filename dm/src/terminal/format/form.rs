//! A format that can be written: its expression is read before anything is done.

use serde::Serialize;

use super::go_template::GoTemplate;
use super::json_path::JsonPath;
use super::{Format, Output, OutputError, json, names, yaml};

/// How results are written.
#[derive(Debug)]
pub enum Form {
    /// In words, by the command itself: tables, graphs and descriptions.
    Words(Format),
    Yaml,
    Json,
    Name,
    JsonPath(JsonPath),
    GoTemplate(GoTemplate),
}

impl Form {
    /// # Errors
    /// An expression is missing, or is not one.
    pub fn new(output: &Output) -> Result<Self, OutputError> {
        let expression = || output.expression.as_deref();
        let missing = |example| OutputError::Missing { example };
        Ok(match output.format {
            Format::Table | Format::Dot | Format::Describe => Self::Words(output.format),
            Format::Yaml => Self::Yaml,
            Format::Json => Self::Json,
            Format::Name => Self::Name,
            Format::JsonPath => {
                let example = "-o jsonpath='{.items[*].name}'";
                let text = expression().ok_or_else(|| missing(example))?;
                Self::JsonPath(JsonPath::parse(text)?)
            }
            Format::GoTemplate => {
                let example = "-o go-template='{{range .items}}{{.name}} {{end}}'";
                let text = expression().ok_or_else(|| missing(example))?;
                Self::GoTemplate(GoTemplate::parse(text)?)
            }
        })
    }

    /// The document for programs. None if the command shows it in words.
    ///
    /// # Errors
    /// The document does not have what was asked for.
    pub fn write(&self, document: &impl Serialize) -> Result<Option<String>, OutputError> {
        let value = || serde_json::to_value(document);
        Ok(match self {
            Self::Words(_) => None,
            Self::Yaml => Some(yaml(document)?),
            Self::Json => Some(json(document)?),
            Self::Name => Some(names::of(&value()?).ok_or(OutputError::Nameless)?),
            Self::JsonPath(path) => Some(path.render(&value()?)?),
            Self::GoTemplate(template) => Some(template.render(&value()?)?),
        })
    }

    /// Whether results are for users: a table, and hints around it.
    pub fn is_for_people(&self) -> bool {
        matches!(self, Self::Words(Format::Table))
    }

    /// Whether the output is for programs, and so never clipped.
    pub fn is_for_programs(&self) -> bool {
        !matches!(self, Self::Words(_))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(format: Format, expression: Option<&str>) -> Result<Option<String>, OutputError> {
        let output = Output {
            format,
            expression: expression.map(str::to_owned),
        };
        let document = json!({"items": [{"name": "a", "n": 1}, {"name": "b"}]});
        Form::new(&output)?.write(&document)
    }

    #[test]
    fn a_document_is_written_in_each_format() {
        let path = written(Format::JsonPath, Some("{.items[*].name}"));
        assert_eq!(path.unwrap().unwrap(), "a b");
        let template = written(Format::GoTemplate, Some("{{len .items}}"));
        assert_eq!(template.unwrap().unwrap(), "2");
        let names = written(Format::Name, None);
        assert_eq!(names.unwrap().unwrap(), "a\nb\n");
        let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        let json = written(Format::Json, None).unwrap().unwrap();
        assert_eq!(read(json)["items"][0]["n"], 1);
        assert_eq!(written(Format::Table, None).unwrap(), None);
    }

    #[test]
    fn an_expression_that_is_missing_or_wrong_is_found_first() {
        for (format, expression) in [
            (Format::JsonPath, None),
            (Format::JsonPath, Some("{.a")),
            (Format::GoTemplate, None),
            (Format::GoTemplate, Some("{{range}}")),
        ] {
            let output = Output {
                format,
                expression: expression.map(str::to_owned),
            };
            assert!(Form::new(&output).is_err(), "{output:?}");
        }
    }
}
