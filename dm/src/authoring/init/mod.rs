//! `dm init`: makes a template to begin with: schema, example and a test.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use common::api::manager::Expand;
use common::model::registry::scope::is_part;
use common::model::{DeploymentName, Import};
use common::yaml;
use serde_json::json;

use crate::client::session::Session;
use crate::error::{CommandError, ExitCode, Failure};
use crate::local::{self, LocalError};
use crate::terminal::format;

/// Make a template to begin with, in a folder of its name: version v1 with schema and example, and a test.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm init web
  dm init web-py --language python
  dm init web-go --language go --dir charts")]
pub struct Init {
    /// Name of the template, and of its folder.
    #[arg(value_parser = name)]
    pub name: String,
    /// Language of the template.
    #[arg(long, short, value_enum, default_value_t = Language::Jinja)]
    pub language: Language,
    /// Folder to make it in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Jinja,
    Python,
    Go,
}

impl Language {
    /// The ending of the file, and what to begin with.
    const fn template(self) -> (&'static str, &'static str) {
        match self {
            Self::Jinja => (".jinja", include_str!("jinja/template.jinja")),
            Self::Python => (".py", include_str!("python/template.py")),
            Self::Go => (".gotmpl", include_str!("go/template.gotmpl")),
        }
    }
}

const SCHEMA: &str = include_str!("template.schema");
const EXAMPLE: &str = include_str!("example.yaml");
const TEST: &str = include_str!("test.sh");
const PLAIN: u32 = 0o644;
const PROGRAM: u32 = 0o755;

/// A name that a deployment can have as well, because the test expands the template under its name.
fn name(text: &str) -> Result<String, String> {
    DeploymentName::parse(text).map_err(|error| error.to_string())?;
    match is_part(text) {
        true => Ok(text.to_owned()),
        false => Err("it cannot stand in a reference to a template".to_owned()),
    }
}

#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("{} exists already; choose another name, or another --dir", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl CommandError for InitError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Exists(_) => ExitCode::Conflict,
            Self::Unwritable { .. } => ExitCode::Failed,
        }
    }
}

impl Init {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        // So that messages have the path as a user would write it.
        let folder = match self.dir.as_os_str() == "." {
            true => PathBuf::from(&self.name),
            false => self.dir.join(&self.name),
        };
        if folder.exists() {
            return Err(InitError::Exists(folder).into());
        }
        let files = self.files();
        for (path, text, mode) in &files {
            write(&folder.join(path), text, *mode)?;
        }
        let expected = match self.expected().await {
            Ok(text) => text,
            Err(LocalError::NoProgram) => {
                let reason = "warning: expected.yaml is not written, because the program expandybird is neither beside dm nor on PATH; test.sh --write makes it";
                session.terminal.note(reason);
                return self.said(session, &folder);
            }
            Err(error) => return Err(error.into()),
        };
        write(&folder.join("expected.yaml"), &expected, PLAIN)?;
        self.said(session, &folder)
    }

    fn file(&self) -> String {
        format!("{}{}", self.name, self.language.template().0)
    }

    fn files(&self) -> [(String, String, u32); 4] {
        let file = self.file();
        let filled = |text: &str| text.replace("NAME", &self.name).replace("FILE", &file);
        let template = self.language.template().1.to_owned();
        [
            (format!("v1/{file}"), template, PLAIN),
            (format!("v1/{file}.schema"), filled(SCHEMA), PLAIN),
            ("v1/example.yaml".to_owned(), filled(EXAMPLE), PLAIN),
            ("test.sh".to_owned(), filled(TEST), PROGRAM),
        ]
    }

    /// What the test compares with.
    async fn expected(&self) -> Result<String, LocalError> {
        let [(_, template, _), (_, schema, _), ..] = self.files();
        let file = self.file();
        let resource = json!({"name": self.name, "type": file, "properties": {"replicas": 2}});
        let import = |name: String, content: String| Import {
            path: Some(name.clone()),
            name,
            content,
        };
        let request = Expand {
            name: DeploymentName::parse(self.name.clone())?,
            content: yaml::write(&json!({"resources": [resource]})).unwrap_or_default(),
            imports: vec![
                import(format!("{file}.schema"), schema),
                import(file, template),
            ],
            namespace: None,
            cluster: None,
            seed: None,
            capabilities: None,
        };
        let expansion = local::expansion(request).await?;
        Ok(format::yaml(&expansion.expanded_config).unwrap_or_default())
    }

    fn said(&self, session: &mut Session<'_, '_>, folder: &Path) -> Result<(), Failure> {
        let (name, shown) = (&self.name, folder.display());
        let text = format!(
            "{shown} has version v1 of template {name}: {file}, its schema, example.yaml and a test\n\n  \
             {shown}/test.sh\n  \
             dm deploy {shown}/v1/{file} --name {name}\n  \
             dm publish {shown}/v1 REGISTRY\n",
            file = self.file(),
        );
        session.print(&text)
    }
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), InitError> {
    let unwritable = |source| InitError::Unwritable {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    let mut file = options.open(path).map_err(unwritable)?;
    file.write_all(text.as_bytes()).map_err(unwritable)
}
