//! `/deployments/{d}/manifests`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use common::api::page::PageQuery;
use common::model::{DeploymentName, LayoutPath, ManifestName};
use common::server::{ApiError, Query, answer};
use serde::Deserialize;

use crate::http::requests::extract::name;
use crate::service::Services;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutQuery {
    /// A node, such as `$.resources[0]`. The whole layout if it is absent or `$`.
    #[schemars(with = "Option<LayoutPath>")]
    path: Option<String>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestDiffQuery {
    /// The manifest to compare with.
    from: ManifestName,
}

pub async fn list(
    services: Data<Services>,
    path: Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let deployment = name(DeploymentName::parse(path.into_inner()))?;
    answer(services.manifests.list(&deployment, &page).await?).await
}

pub async fn get(
    services: Data<Services>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (deployment, manifest) = names(path)?;
    answer(services.manifests.get(&deployment, &manifest).await?).await
}

pub async fn diff(
    services: Data<Services>,
    path: Path<(String, String)>,
    Query(query): Query<ManifestDiffQuery>,
) -> Result<HttpResponse, ApiError> {
    let (deployment, to) = names(path)?;
    let diff = services.manifests.diff(&deployment, &query.from, &to).await;
    answer(diff?).await
}

pub async fn layout(
    services: Data<Services>,
    path: Path<(String, String)>,
    Query(query): Query<LayoutQuery>,
) -> Result<HttpResponse, ApiError> {
    let (deployment, manifest) = names(path)?;
    let at = query
        .path
        .as_deref()
        .map_or(Ok(LayoutPath::root()), |text| name(LayoutPath::parse(text)))?;
    let manifests = &services.manifests;
    match at == LayoutPath::root() {
        true => answer(manifests.layout(&deployment, &manifest).await?).await,
        false => answer(manifests.layout_at(&deployment, &manifest, &at).await?).await,
    }
}

fn names(path: Path<(String, String)>) -> Result<(DeploymentName, ManifestName), ApiError> {
    let (deployment, manifest) = path.into_inner();
    Ok((
        name(DeploymentName::parse(deployment))?,
        name(ManifestName::parse(manifest))?,
    ))
}
