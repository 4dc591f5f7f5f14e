//! Types in use.

use super::*;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the types in use, by name")
        .query::<PageQuery>(of)
        .answers::<Page<TypeSummary>>(200, "A page of the list.", of)
}

pub fn instances(of: &mut SchemaGenerator) -> Description {
    Description::new(
        "List the instances of a type, now or at a past moment. `all` means every type",
    )
    .query::<InstancesQuery>(of)
    .answers::<Page<TypeInstance>>(200, "A page of the list.", of)
}

pub fn metadata(of: &mut SchemaGenerator) -> Description {
    Description::new("Describe a template")
        .answers::<TemplateDescription>(200, "Its description.", of)
        .fails(CATALOG)
}

pub fn registry(of: &mut SchemaGenerator) -> Description {
    Description::new("Get the registry of a template")
        .answers::<RegistrySummary>(200, "It.", of)
        .fails(CATALOG)
}
