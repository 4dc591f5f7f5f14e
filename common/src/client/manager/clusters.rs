//! Clusters.

use reqwest::Method;

use super::{ManagerClient, READ};
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::model::{Cluster, ClusterName};

impl ManagerClient {
    pub async fn clusters(&self, page: &PageQuery) -> Result<Page<Cluster>, ClientError> {
        self.endpoint.get(&["clusters"], page, READ).await
    }

    pub async fn cluster(&self, name: &ClusterName) -> Result<Cluster, ClientError> {
        self.read(&["clusters", name.as_str()]).await
    }

    pub async fn create_cluster(&self, cluster: &Cluster) -> Result<Cluster, ClientError> {
        let request = self.endpoint.request(Method::POST, &["clusters"]);
        self.endpoint
            .fetch(request.json(cluster), READ.into())
            .await
    }

    /// Replaces all that is known of the cluster.
    pub async fn replace_cluster(&self, cluster: &Cluster) -> Result<Cluster, ClientError> {
        let path = ["clusters", cluster.name.as_str()];
        let request = self.endpoint.request(Method::PUT, &path);
        self.endpoint
            .fetch(request.json(cluster), READ.into())
            .await
    }

    pub async fn delete_cluster(&self, name: &ClusterName) -> Result<Cluster, ClientError> {
        let path = ["clusters", name.as_str()];
        let request = self.endpoint.request(Method::DELETE, &path);
        self.endpoint.fetch(request, READ.into()).await
    }
}
