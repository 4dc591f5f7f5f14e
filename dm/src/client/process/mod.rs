//! `dm process`: replaces the parameters of a Template object, and prints its objects.

mod assignments;
mod error;
mod param_file;
mod print;
pub(super) mod source;
mod template;

use std::collections::HashMap;

use clap::Args;
use common::model::Namespace;
use expandybird_templateobject::{Inputs, Seeded, Template, process};
use serde_json::Value;

use self::assignments::Assignments;
use self::error::ProcessError;
use crate::client::session::Session;
use crate::error::Failure;
use crate::local::random_seed;
use crate::terminal::format::{Format, Output};

/// Replace the parameters of a Template object, and print its objects. Nothing is deployed.
///
/// The Template is in a file or at a URL, or the manager stores it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm process -f web.yaml -p SLOT=blue
  dm process -f web.yaml --parameters
  dm process -f web.yaml --param-file values.env --local -o yaml
  dm process -f web.yaml SLOT=blue -l team=shop -o describe
  dm process -f web.yaml SLOT=blue -o jsonpath='{.items[*].metadata.name}'
  dm process web SLOT=blue --namespace shop | kubectl apply -f -")]
pub struct Process {
    /// A stored Template (NAME, template/NAME or NAMESPACE//NAME), or values of parameters (NAME=VALUE).
    #[arg(id = "items", value_name = "NAME|PARAM=VALUE")]
    pub items: Vec<String>,
    /// File or URL with the Template; - reads standard input.
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub file: Option<String>,
    /// Value of a parameter. May be repeated.
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// File with one NAME=VALUE per line; - reads standard input. May be repeated: --param overrides files, and earlier files
    /// override later ones.
    #[arg(long = "param-file", value_name = "FILE")]
    pub param_files: Vec<String>,
    /// Ignore values of parameters that the Template does not have.
    #[arg(long)]
    pub ignore_unknown_parameters: bool,
    /// Labels, like a=b,c=d; they override those of the Template.
    #[arg(
        short = 'l',
        long,
        value_name = "KEY=VALUE,…",
        default_value = "",
        hide_default_value = true
    )]
    pub labels: String,
    /// List the parameters, and process nothing.
    #[arg(long, conflicts_with_all = ["params", "labels", "output", "raw", "template"])]
    pub parameters: bool,
    /// Process without a manager.
    #[arg(long)]
    pub local: bool,
    /// Print each object as a document.
    #[arg(long)]
    pub raw: bool,
    /// Go template for the output.
    #[arg(short = 't', long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// Namespace of a stored Template [default: that of the context].
    #[arg(short = 'n', long)]
    pub namespace: Option<Namespace>,
}

impl Process {
    /// Whether the command needs a manager.
    pub fn asks_the_manager(&self) -> bool {
        let only_lists = self.parameters && self.file.is_some();
        !self.local && !only_lists
    }

    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let is_value = |item: &&String| item.contains('=');
        let (given, names): (Vec<_>, Vec<_>) = self.items.iter().partition(is_value);
        let given: Vec<_> = self.params.iter().chain(given).cloned().collect();
        let values = assignments::parse(&given)?;
        let labels = assignments::labels(&self.labels)?;
        let mut found = self.template(&names, session).await?;
        if let Some(namespace) = self.namespace.as_ref().or(session.namespace.as_ref()) {
            template::set_namespace(&mut found, namespace);
        }
        if self.parameters {
            let width = session.terminal.width;
            return session.print(&print::parameters(&found, width));
        }
        let values = self.with_files(values, session).await?;
        template::set_labels(&mut found, labels);
        let unknown = template::set_values(&mut found, values);
        if !unknown.is_empty() && !self.ignore_unknown_parameters {
            return Err(ProcessError::Unknown(unknown).into());
        }
        let processed = match self.local {
            true => processed(found)?,
            false => {
                let processed = session.client.process_template(&found).await;
                processed.map_err(ProcessError::from)?
            }
        };
        let text = print::objects(&processed, &session.form, self.raw)?;
        session.print(&text)
    }

    /// The output, with the template of the command's own flag.
    pub fn output(&self, given: Output) -> Result<Output, Failure> {
        match (given.format, &self.template) {
            (Format::Table | Format::GoTemplate, Some(template)) => Ok(Output {
                format: Format::GoTemplate,
                expression: Some(template.clone()),
            }),
            (_, Some(_)) => {
                let reason = "--template is a Go template; leave out -o, or write -o go-template";
                Err(Failure::usage(reason))
            }
            (_, None) => Ok(given),
        }
    }

    async fn template(
        &self,
        names: &[&String],
        session: &mut Session<'_, '_>,
    ) -> Result<Value, Failure> {
        match (&self.file, names) {
            (Some(file), []) => {
                let text = source::text(file, session).await?;
                source::first_template(&text, file, session)
            }
            (None, [name]) if !self.local => {
                let namespace = self.namespace.clone().or_else(|| session.namespace.clone());
                source::stored(name, namespace, session).await
            }
            _ => {
                let reason = "give a file with -f, or the name of one stored Template; --local takes only a file";
                Err(Failure::usage(reason))
            }
        }
    }

    /// The values of the command line, and those of the files that it does not have.
    async fn with_files(
        &self,
        mut values: Assignments,
        session: &mut Session<'_, '_>,
    ) -> Result<Assignments, Failure> {
        for (name, value) in &values {
            if assignments::has_assignments(value) {
                let note = "a comma does not separate parameters; repeat --param for each";
                session
                    .terminal
                    .note(&format!("warning: parameter {name} is {value:?}: {note}"));
            }
        }
        for file in &self.param_files {
            let read = param_file::parse(&source::text(file, session).await?);
            let read = read.map_err(|error| Failure::usage(format!("{file}: {error}")))?;
            for (name, value) in read {
                if values.iter().any(|(known, _)| *known == name) {
                    session.terminal.note(&format!(
                        "warning: Template parameter {name:?} already defined, ignoring value from file {file:?}"
                    ));
                    continue;
                }
                values.push((name, value));
            }
        }
        Ok(values)
    }
}

/// Processes without a manager.
fn processed(template: Value) -> Result<Value, ProcessError> {
    let seed = random_seed().ok_or(ProcessError::NoRandomNumbers)?;
    let mut values = Seeded::new(seed.as_bytes(), "", HashMap::new());
    let name = template["metadata"]["name"].as_str().unwrap_or_default();
    let name = name.to_owned();
    let found = Template::read(template)
        .and_then(|template| process(template, &Inputs::default(), &mut values));
    let found = found.map_err(|faults| ProcessError::Invalid { name, faults })?;
    Ok(found.into_template())
}
