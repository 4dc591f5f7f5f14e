//! Registries and their templates.

use super::*;
use crate::http::registries::{DownloadQuery, TemplatesQuery};

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the registries")
        .query::<PageQuery>(of)
        .answers::<Page<RegistrySummary>>(200, "A page of the list, by name.", of)
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a registry")
        .answers::<RegistrySummary>(200, "It.", of)
        .fails(CATALOG)
}

pub fn create(of: &mut SchemaGenerator) -> Description {
    Description::new("Register a registry")
        .body::<RegistryDefinition>(of)
        .answers::<RegistrySummary>(201, "The registry is registered.", of)
        .with_header(201, "Location", "The path of the registry.")
        .fails(&[AlreadyExists])
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    Description::new("Remove a registered registry. Deployments from it stay")
        .answers::<RegistrySummary>(200, "The state before the removal.", of)
        .fails(&[NotFound])
}

pub fn refresh(of: &mut SchemaGenerator) -> Description {
    Description::new("Ask a registry for its templates now, and use no earlier answer")
        .answers::<RefreshedRegistry>(200, "What it has.", of)
        .fails(CATALOG)
}

pub fn templates(of: &mut SchemaGenerator) -> Description {
    Description::new("List the templates of a registry")
        .query::<TemplatesQuery>(of)
        .answers::<Page<TemplateSummary>>(
            200,
            "A page of the templates whose names match, by name.",
            of,
        )
        .fails(CATALOG)
}

pub fn template(of: &mut SchemaGenerator) -> Description {
    Description::new("Describe a template of a registry")
        .answers::<TemplateDescription>(200, "Its description.", of)
        .fails(CATALOG)
}

pub fn download(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a file of a registry")
        .query::<DownloadQuery>(of)
        .raw_answer(200, "The bytes of the file.", "application/octet-stream")
        .fails(CATALOG)
}
