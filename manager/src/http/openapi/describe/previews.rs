//! Previews and differences.

use super::*;

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get the preview: the manifest, and what a commit would do")
        .answers::<Manifest>(200, "It.", of)
        .fails(&[NotFound])
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    Description::new("Delete the preview. The deployment does not change")
        .header(
            "If-Match",
            "The `ETag` of the deployment: the request fails if it has changed since.",
        )
        .answers::<Deployment>(200, "The deployment without the preview.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(&[NotFound, OperationRunning, PreconditionFailed])
}

pub fn diff(of: &mut SchemaGenerator) -> Description {
    Description::new("Show what an update would do now. Nothing is stored or applied")
        .query::<DiffQuery>(of)
        .body::<UpdateDeployment>(of)
        .answers::<Diff>(
            200,
            "Every resource, with the fields that would change.",
            of,
        )
        .fails(&[
            NotFound,
            UnknownType,
            DeployerUnavailable,
            ClusterUnavailable,
        ])
        .fails(EXPANSION)
}
