//! `dm package`: checks a version of a template, and signs it.

use std::path::{Path, PathBuf};

use clap::Args;
use common::registry::sums::{FILE, MINISIG, hex};
use serde::Serialize;

use crate::authoring::package::signer::Signer;
use crate::authoring::package::{CheckedVersion, Signature, seal};
use crate::client::session::Session;
use crate::error::Failure;

/// Check the folder of a template version, TEMPLATE/VERSION, and report everything that is wrong with it.
///
/// The folder must have exactly one template, TEMPLATE.py or TEMPLATE.jinja. Its schema must be readable, and the imports of
/// the schema must be in the folder. Its example.yaml must deploy an instance of the template. Or the folder is a package:
/// Kubernetes objects in manifests/, and a Chart.yaml with name and version. Or it is a Helm chart, whose Chart.yaml has the name
/// and version of the folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm package templates/redis/v1.0.1
  dm package templates/redis/v1.0.1 --sign ~/.minisign/minisign.key
  DM_SIGNING_PASSWORD=… dm package templates/redis/v1.0.1 --sign minisign.key")]
pub struct Package {
    /// Folder of the version.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Sign the version with this minisign secret key: writes SHA256SUMS and SHA256SUMS.minisig into the folder. dm asks for the
    /// password of the key on a terminal, or takes it from DM_SIGNING_PASSWORD.
    #[arg(long, value_name = "KEYFILE")]
    pub sign: Option<PathBuf>,
}

/// For programs.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    template: &'a str,
    version: &'a str,
    bytes: usize,
    signed: bool,
    files: Vec<ShownFile<'a>>,
}

#[derive(Debug, Serialize)]
struct ShownFile<'a> {
    path: &'a str,
    sha256: String,
}

impl Package {
    pub fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let signature = match self.sign {
            Some(_) => Signature::Replaced,
            None => Signature::Kept,
        };
        let mut version = CheckedVersion::read(&self.folder, signature)?;
        if let Some(key) = &self.sign {
            let signer = Signer::open(key, session.terminal.interactive)?;
            seal(&mut version, &signer)?;
            written(&self.folder, &version)?;
        }
        let file = |(path, content): (&'_ common::registry::FilePath, &Vec<u8>)| {
            (path.to_string(), hex(content))
        };
        let files: Vec<_> = version.files.iter().map(file).collect();
        let shown = Shown {
            template: &version.template,
            version: &version.version,
            bytes: version.bytes(),
            signed: version.is_signed(),
            files: files
                .iter()
                .map(|(path, sha256)| ShownFile {
                    path,
                    sha256: sha256.clone(),
                })
                .collect(),
        };
        session.show(&shown, |shown| {
            let signed = match shown.signed {
                true => "signed",
                false => "not signed",
            };
            format!(
                "{} can be published: {} files, {} bytes, {signed}\n",
                version.reference(),
                shown.files.len(),
                shown.bytes
            )
        })
    }
}

/// Writes the list first: without it, the signature would belong to the previous list.
fn written(folder: &Path, version: &CheckedVersion) -> Result<(), Failure> {
    for name in [FILE.to_owned(), [FILE, MINISIG].concat()] {
        let content = version.files.iter().find(|(path, _)| path.as_str() == name);
        let Some((_, content)) = content else {
            continue;
        };
        let path = folder.join(&name);
        std::fs::write(&path, content)
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}
