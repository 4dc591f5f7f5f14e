//! Operations.

use super::*;
use crate::http::operations::ListQuery;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the operations, latest first")
        .query::<ListQuery>(of)
        .answers::<Page<Operation>>(200, "A page of the list.", of)
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get an operation with its progress")
        .answers::<Operation>(200, "It.", of)
        .fails(&[NotFound])
}

pub fn cancel(of: &mut SchemaGenerator) -> Description {
    stopping(Description::new("Stop an operation. Nothing is undone"), of)
}

pub fn stop(of: &mut SchemaGenerator) -> Description {
    let description = "Stop the running operation of a deployment. Nothing is undone";
    stopping(Description::new(description), of)
        .header(
            "If-Match",
            "The `ETag` of the deployment: the request fails if it has changed since.",
        )
        .fails(&[PreconditionFailed])
}

fn stopping(description: Description, of: &mut SchemaGenerator) -> Description {
    description
        .header("Prefer", "`respond-async`: do not wait for the end.")
        .answers::<Operation>(200, "The operation after its end.", of)
        .answers::<Operation>(
            202,
            "The operation that is being stopped, if `Prefer` asks for it.",
            of,
        )
        .with_header(202, "Location", "The path of the operation.")
        .fails(&[NotFound, NothingRunning, Unavailable])
}
