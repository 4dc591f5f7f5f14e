//! Live objects of a deployment.

use super::*;

pub fn resources(of: &mut SchemaGenerator) -> Description {
    Description::new("Get the live state of a deployment's objects, with their drift")
        .query::<ResourcesQuery>(of)
        .answers::<Resources>(200, "A page of the list.", of)
        .fails(&[NotFound, DeployerUnavailable, ClusterUnavailable, Timeout])
}

pub fn graph(of: &mut SchemaGenerator) -> Description {
    Description::new("Get the dependencies between the resources of the latest manifest")
        .query::<GraphQuery>(of)
        .answers::<Graph>(200, "Nodes and edges.", of)
        .fails(&[
            NotFound,
            UnknownType,
            DeployerUnavailable,
            ClusterUnavailable,
            Timeout,
        ])
}
