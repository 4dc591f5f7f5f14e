//! Deployments.

use super::*;
use crate::http::deployments::new_deployment::NameQuery;
use crate::http::openapi::description::YAML;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the deployments, by name")
        .query::<DeploymentsQuery>(of)
        .answers::<DeploymentList>(200, "A page of the list.", of)
}

pub fn create(of: &mut SchemaGenerator) -> Description {
    write(Description::new("Create a deployment"), &[Kind::Create], of)
        .query::<NameQuery>(of)
        .body::<CreateDeployment>(of)
        .or_text(
            YAML,
            "A deployment; with the parameter `name`, the text of a configuration.",
        )
        .answers::<Deployment>(
            201,
            "The deployment is created, or its preview is stored.",
            of,
        )
        .with_header(201, "Location", "The path of the deployment.")
        .with_header(201, "ETag", "Changes with every write.")
        .fails(&[AlreadyExists])
        .fails(EXPANSION)
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a deployment")
        .answers::<DeploymentAnswer>(200, "It.", of)
        .with_header(200, "ETag", "Changes with every write. For `If-Match`.")
        .fails(&[NotFound])
}

pub fn update(of: &mut SchemaGenerator) -> Description {
    change(
        Description::new("Update a deployment with a new configuration, or commit its preview"),
        &[Kind::Update, Kind::Commit],
        of,
    )
    .body::<UpdateDeployment>(of)
    .answers::<Deployment>(200, "The deployment after the write.", of)
    .with_header(200, "ETag", "Changes with every write.")
    .fails(EXPANSION)
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    let description = Description::new("Delete a deployment and its objects");
    change(description, &[Kind::Delete], of)
        .answers::<Deployment>(200, "The state before the removal.", of)
        .with_header(200, "ETag", "Changes with every write.")
}

pub fn rollback(of: &mut SchemaGenerator) -> Description {
    change(
        Description::new("Roll back to an earlier manifest, as a new manifest"),
        &[Kind::Rollback],
        of,
    )
    .body::<RollbackDeployment>(of)
    .answers::<Deployment>(200, "The deployment after the write.", of)
    .with_header(200, "ETag", "Changes with every write.")
    .fails(&[NeverApplied])
}

pub fn test(of: &mut SchemaGenerator) -> Description {
    let description = Description::new("Run the test hooks of a deployment's charts");
    change(description, &[Kind::Test], of)
        .answers::<Deployment>(200, "The deployment. It is the same as before.", of)
        .with_header(200, "ETag", "Changes with every write.")
}

pub fn upgrade(of: &mut SchemaGenerator) -> Description {
    change(
        Description::new("Upgrade one template of a deployment to another version"),
        &[Kind::Upgrade],
        of,
    )
    .body::<UpgradeDeployment>(of)
    .answers::<Deployment>(200, "The deployment after the write.", of)
    .with_header(200, "ETag", "Changes with every write.")
    .fails(EXPANSION)
}
