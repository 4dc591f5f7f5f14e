//! The files of one template: the template, its schema, and the imports of the schema.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::canonical::{digest, digest_bytes};
pub use common::registry::SCHEMA;
use common::yaml::{Duplicates, Limits};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Map, Value};

use crate::RegistryError;
use crate::adapter::Files;
use crate::catalog::provenance;
use common::registry::FilePath;
use common::registry::{PACKED, TEMPLATE_BYTES, TEMPLATE_IMPORTS};

/// Imports that are requested at the same time.
const AT_ONCE: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    pub path: FilePath,
    /// A packed chart is base 64.
    pub content: String,
    pub role: Role,
    /// `sha256:<hex>` of the file's bytes.
    pub sha256: String,
}

impl TemplateFile {
    /// A file of text.
    pub fn new(path: FilePath, content: String, role: Role) -> Self {
        let sha256 = digest_bytes(content.as_bytes()).to_string();
        Self {
            path,
            content,
            role,
            sha256,
        }
    }

    /// A file in a packed chart. Its content does not travel by itself.
    pub fn packed(path: FilePath, bytes: &[u8]) -> Self {
        Self {
            path,
            content: String::new(),
            role: Role::Packed,
            sha256: digest_bytes(bytes).to_string(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is in the registry.
    Given,
    /// It was made from other files, and exists only here.
    Made,
    /// It is in the registry, and travels in a file that was made.
    Packed,
    /// It is in the registry beside a packed chart, and says who published it. It does not travel.
    Provenance,
}

/// The size of a file in memory beside its text.
const FILE_OVERHEAD_BYTES: usize = 200;

/// The size of files in memory, in bytes.
pub fn size(files: &[TemplateFile]) -> u64 {
    let sizes = files
        .iter()
        .map(|file| file.content.len() + FILE_OVERHEAD_BYTES);
    u64::try_from(sizes.sum::<usize>()).unwrap_or(u64::MAX)
}

/// The template first, then its provenance and its schema if it has them, then the imports of the schema in their order. `None` if there is
/// no template.
pub async fn template(
    files: &dyn Files,
    template: &FilePath,
) -> Result<Option<Vec<TemplateFile>>, RegistryError> {
    let Some(first) = text(files, template).await? else {
        return Ok(None);
    };
    let provenance = provenance::of(files, &first).await?;
    let mut found = vec![first];
    found.extend(provenance);
    if let Some(schema) = text(files, &template.with_ending(SCHEMA)).await? {
        let wanted = imports(files, &schema)?;
        found.push(schema);
        let imports = append(files, template, wanted, &mut found).await?;
        if !imports.is_empty() {
            let schema = files.path_of(&template.with_ending(SCHEMA));
            return Err(RegistryError::ImportsNotFound { schema, imports });
        }
    }
    Ok(Some(found))
}

/// Appends files of a template to `found`. Returns the names of the missing ones.
pub async fn append(
    files: &dyn Files,
    template: &FilePath,
    wanted: Vec<FilePath>,
    found: &mut Vec<TemplateFile>,
) -> Result<Vec<String>, RegistryError> {
    let mut missing = Vec::new();
    let fetch = |path: FilePath| async move { (text(files, &path).await, path) };
    let mut fetched = stream::iter(wanted).map(fetch).buffered(AT_ONCE);
    let mut bytes: usize = found.iter().map(|file| file.content.len()).sum();
    while let Some((file, path)) = fetched.next().await {
        let Some(file) = file? else {
            missing.push(files.path_of(&path));
            continue;
        };
        bytes += file.content.len();
        if bytes > TEMPLATE_BYTES {
            return Err(RegistryError::TemplateTooLarge {
                template: files.path_of(template),
                limit: TEMPLATE_BYTES,
            });
        }
        found.push(file);
    }
    Ok(missing)
}

/// The text of a file. `None` if it does not exist.
pub async fn text(
    files: &dyn Files,
    path: &FilePath,
) -> Result<Option<TemplateFile>, RegistryError> {
    let Some(bytes) = files.read(path).await? else {
        return Ok(None);
    };
    if path.as_str().ends_with(PACKED) {
        return Ok(Some(TemplateFile {
            content: BASE64_STANDARD.encode(&bytes),
            role: Role::Given,
            ..TemplateFile::packed(path.clone(), &bytes)
        }));
    }
    let content = String::from_utf8(bytes).map_err(|_| RegistryError::NotText {
        file: files.path_of(path),
    })?;
    let file = TemplateFile::new(path.clone(), content, Role::Given);
    Ok(Some(file))
}

/// The text of a schema.
pub fn parse_schema(files: &dyn Files, schema: &TemplateFile) -> Result<Value, RegistryError> {
    let read = common::yaml::read(&schema.content, &Limits::DEFAULT, Duplicates::Warn);
    let document = read.map_err(|source| RegistryError::SchemaYaml {
        schema: files.path_of(&schema.path),
        source: Box::new(source),
    })?;
    Ok(document.value)
}

/// The files that a schema imports, each once, without the template and the schema.
fn imports(files: &dyn Files, schema: &TemplateFile) -> Result<Vec<FilePath>, RegistryError> {
    let name = || files.path_of(&schema.path);
    let shape = |reason: &str| RegistryError::SchemaShape {
        schema: name(),
        reason: reason.to_owned(),
    };
    let value = parse_schema(files, schema)?;
    let listed = match &value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(map) => map.get("imports").unwrap_or(&Value::Null),
        _ => return Err(shape("it must be a map")),
    };
    let listed = match listed {
        Value::Null => return Ok(Vec::new()),
        Value::Array(listed) => listed,
        _ => {
            return Err(shape(
                "its imports must be a list of maps like {path: helper.py}",
            ));
        }
    };
    if listed.len() > TEMPLATE_IMPORTS {
        return Err(RegistryError::TooManyImports {
            schema: name(),
            limit: TEMPLATE_IMPORTS,
        });
    }
    let own = schema.path.as_str();
    let template = own.strip_suffix(SCHEMA).unwrap_or(own);
    let (mut found, mut faults) = (Vec::<FilePath>::new(), Vec::new());
    for import in listed {
        let path = import.get("path").and_then(Value::as_str);
        let path = path
            .ok_or_else(|| shape("each of its imports needs a path, such as {path: helper.py}"))?;
        match schema.path.parent().join_text(path) {
            Ok(path) if path.as_str() == own || path.as_str() == template => {}
            Ok(path) if found.contains(&path) => {}
            Ok(path) => found.push(path),
            Err(fault) => faults.push(fault.to_string()),
        }
    }
    match faults.is_empty() {
        true => Ok(found),
        false => Err(RegistryError::ImportPaths {
            schema: name(),
            faults,
        }),
    }
}

/// `sha256:<hex>` over all files of the template but its provenance. Their paths in the registry and their order have no effect.
pub fn sha256(found: &[TemplateFile]) -> String {
    let folder = found
        .first()
        .map(|file| file.path.parent())
        .unwrap_or_default();
    let relative = |path: &FilePath| {
        path.as_str()[folder.as_str().len()..]
            .trim_start_matches('/')
            .to_owned()
    };
    let files: Map<String, Value> = found
        .iter()
        .filter(|file| !matches!(file.role, Role::Made | Role::Provenance))
        .map(|file| (relative(&file.path), Value::String(file.sha256.clone())))
        .collect();
    digest(&Value::Object(files)).to_string()
}

/// Reads several files at the same time and returns them in order, until one fails.
pub async fn each<T, U, F>(items: Vec<T>, read: impl Fn(T) -> F) -> Result<Vec<U>, RegistryError>
where
    F: Future<Output = Result<U, RegistryError>>,
{
    stream::iter(items)
        .map(read)
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &str) -> TemplateFile {
        let path = FilePath::parse(path).unwrap();
        TemplateFile::new(path, content.to_owned(), Role::Given)
    }

    #[test]
    fn the_digest_depends_on_names_and_contents_and_not_on_the_place() {
        let here = sha256(&[file("a/v1/a.py", "x"), file("a/v1/h.py", "y")]);
        let there = sha256(&[file("c/a/v2/a.py", "x"), file("c/a/v2/h.py", "y")]);
        assert_eq!(here, there);
        assert_ne!(here, sha256(&[file("a.py", "x"), file("h.py", "z")]));
        assert_ne!(here, sha256(&[file("a.py", "x"), file("i.py", "y")]));
        assert_ne!(here, sha256(&[file("a.py", "x")]));
        let made = TemplateFile {
            role: Role::Made,
            ..file("a/v1/made", "z")
        };
        let with_made = sha256(&[made, file("a/v1/a.py", "x"), file("a/v1/h.py", "y")]);
        assert_eq!(here, with_made, "a made file does not name its registry");
    }
}
