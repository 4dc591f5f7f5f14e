//! One case: templates, options and data.

use std::fmt;
use std::sync::Arc;

use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::parse::Delimiters;
use expandybird_gotemplate::{MissingKey, Options, Session, Set, execute};
use serde_json::json;

use crate::functions::FUNCTIONS;
use crate::typed::{self, Typed};

/// The output, with a backslash before each byte that is no ASCII, or the error.
pub type Answer = Result<String, String>;

#[derive(Clone)]
pub struct Case {
    /// Names and texts; the first is run.
    pub templates: Vec<(String, String)>,
    pub missing_key: &'static str,
    pub delimiters: (&'static str, &'static str),
    pub data: Typed,
}

impl Case {
    /// A case of one template.
    pub fn of(text: &str, missing_key: &'static str) -> Self {
        Self {
            templates: vec![("t".to_owned(), text.to_owned())],
            missing_key,
            delimiters: ("", ""),
            // Go prints a function by its address.
            data: match text.contains(".fn") {
                true => typed::data_with_function(),
                false => typed::data(),
            },
        }
    }

    pub fn request(&self) -> serde_json::Value {
        json!({
            "templates": self.templates,
            "missingKey": self.missing_key,
            "left": self.delimiters.0,
            "right": self.delimiters.1,
            "data": self.data.json(),
        })
    }

    /// What ours makes of it. `None` where it stops on purpose: after too many steps, or at a complex number.
    pub fn answer(&self) -> Option<Answer> {
        match self.run() {
            Err(Error::Limit) => None,
            Err(Error::Message(message)) if message.contains("complex numbers") => None,
            Err(Error::Message(message)) => Some(Err(message)),
            Ok(output) => Some(Ok(output)),
        }
    }

    fn run(&self) -> Result<String, Error> {
        let missing_key = match self.missing_key {
            "zero" => MissingKey::Zero,
            "error" => MissingKey::Error,
            _ => MissingKey::NoValue,
        };
        let options = Options {
            missing_key,
            delimiters: Delimiters::new(self.delimiters.0, self.delimiters.1),
        };
        let functions = FunctionTable::default().with(FUNCTIONS);
        let mut set = Set::new("set", Arc::new(functions), options);
        for (name, text) in &self.templates {
            set.parse(name, text.as_str())
                .map_err(|error| Error::Message(error.to_string()))?;
        }
        let limits = Limits {
            steps: 200_000,
            ..Limits::default()
        };
        let mut session = Session::new(limits, ());
        let (name, _) = self.templates.first().unwrap();
        match execute(&set, &mut session, name, &self.data.value()) {
            Ok(out) => Ok(out.escape_ascii().to_string()),
            Err(error) if error.limit().is_some() => Err(Error::Limit),
            Err(error) => Err(Error::Message(error.to_string())),
        }
    }
}

enum Error {
    Limit,
    Message(String),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = self.delimiters;
        write!(
            f,
            "missingkey={} delimiters={left:?} {right:?}",
            self.missing_key
        )?;
        for (name, text) in &self.templates {
            write!(f, "\n  {name}: {text:?}")?;
        }
        Ok(())
    }
}
