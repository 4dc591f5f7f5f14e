//! Clusters.

use super::*;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the clusters. `default` is that of the manager's own resourcifier")
        .query::<PageQuery>(of)
        .answers::<Page<Cluster>>(200, "A page of the list, by name.", of)
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a cluster")
        .answers::<Cluster>(200, "It.", of)
        .fails(&[NotFound])
}

pub fn create(of: &mut SchemaGenerator) -> Description {
    Description::new("Register a cluster")
        .body::<Cluster>(of)
        .answers::<Cluster>(201, "The cluster is registered.", of)
        .with_header(201, "Location", "The path of the cluster.")
        .fails(&[AlreadyExists])
}

pub fn replace(of: &mut SchemaGenerator) -> Description {
    Description::new("Replace all that is known of a cluster. Its deployments stay")
        .body::<Cluster>(of)
        .answers::<Cluster>(200, "The cluster is changed.", of)
        .fails(&[NotFound])
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    Description::new("Remove a cluster that no deployment is on")
        .answers::<Cluster>(200, "The state before the removal.", of)
        .fails(&[NotFound, InUse])
}
