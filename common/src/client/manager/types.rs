//! Templates and kinds, their instances, and their expansion.

use reqwest::Method;

use super::{ManagerClient, READ};
use crate::api::manager::{
    Expand, Expansion, InstancesQuery, TemplateDescription, TypeInstance, TypeSummary,
};
use crate::api::page::{Page, PageQuery};
use crate::api::upgrade::{WhatIf, WhatIfPage, WhatIfQuery};
use crate::client::error::ClientError;

impl ManagerClient {
    /// Expands as a create would. Nothing is stored or applied.
    pub async fn expand(&self, request: &Expand) -> Result<Expansion, ClientError> {
        let send = || {
            self.endpoint
                .request(Method::POST, &["expand"])
                .json(request)
        };
        self.endpoint.fetch_repeatedly(send, READ).await
    }

    /// What deployments would become with another version of a template. A page takes as long as its expansions.
    pub async fn whatif(
        &self,
        request: &WhatIf,
        query: &WhatIfQuery,
    ) -> Result<WhatIfPage, ClientError> {
        let path = ["templates", "whatif"];
        let send = self.endpoint.with_query(Method::POST, &path, query);
        self.endpoint.fetch(send.json(request), None).await
    }

    pub async fn types(&self, page: &PageQuery) -> Result<Page<TypeSummary>, ClientError> {
        self.endpoint.get(&["types"], page, READ).await
    }

    /// `all` means every type.
    pub async fn instances(
        &self,
        type_name: &str,
        page: &PageQuery,
    ) -> Result<Page<TypeInstance>, ClientError> {
        self.endpoint
            .get(&["types", type_name, "instances"], page, READ)
            .await
    }

    /// The instances at a past moment, if the query names one.
    pub async fn instances_at(
        &self,
        type_name: &str,
        query: &InstancesQuery,
    ) -> Result<Page<TypeInstance>, ClientError> {
        self.endpoint
            .get(&["types", type_name, "instances"], query, READ)
            .await
    }

    pub async fn describe(&self, type_name: &str) -> Result<TemplateDescription, ClientError> {
        self.read(&["types", type_name, "metadata"]).await
    }
}
