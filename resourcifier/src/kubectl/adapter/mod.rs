//! The adapter: the cluster through `kubectl proxy`. Discovery uses the identity of the service. Objects are accessed
//! as their callers (`objects`).

mod discovery;
mod events;
mod log;
mod objects;
mod review;
mod versions;
mod watch;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::{AccessVerdict, ResourceAttributes, TokenReview, TokenVerdict};
use common::model::{Identity, ObjectRef};

use self::objects::Objects;
use super::ServedKind;
use super::caller::Caller;
use super::error::{KubectlError, ObjectError, ObjectFault};
use super::process::folder::{Folder, FolderError};
use super::proxy::Proxy;
use super::proxy::session::Settings;
use super::{Cluster, ClusterApi, Gate, Versions};

/// Discovery needs few requests.
const DISCOVERY: Duration = Duration::from_secs(20);
#[derive(Debug)]
pub struct ThroughProxy {
    pub(super) proxy: Proxy,
    /// The served kinds, by version and kind.
    routes: RwLock<HashMap<(String, String), ServedKind>>,
}

impl ThroughProxy {
    /// Starts nothing yet: the first call does.
    pub fn new(settings: Settings) -> Result<Self, FolderError> {
        let folder = Folder::new(&std::env::temp_dir())?;
        Ok(Self {
            proxy: Proxy::new(settings, folder),
            routes: RwLock::default(),
        })
    }

    /// Ends `kubectl proxy`. Calls fail afterwards.
    pub async fn stop(&self) {
        self.proxy.stop().await;
    }

    /// The address of the object. The cluster is asked once for each kind.
    pub(super) async fn route(&self, object: &ObjectRef) -> Result<ServedKind, KubectlError> {
        let key = (object.api_version.clone(), object.kind.clone());
        let known = self
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(kind) = known {
            return Ok(kind);
        }
        self.remember(discovery::of_version(&self.proxy, &object.api_version, DISCOVERY).await?);
        let known = self
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        known.ok_or_else(|| {
            let text = format!(
                "the cluster serves no kind {} in version {}",
                object.kind, object.api_version
            );
            KubectlError::Object(ObjectError {
                fault: ObjectFault::Unserved,
                text,
                causes: Vec::new(),
            })
        })
    }

    /// A definition may be deleted and created with another plural name: the kind is looked up again.
    pub(super) fn forget(&self, object: &ObjectRef) {
        let key = (object.api_version.clone(), object.kind.clone());
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        routes.remove(&key);
    }

    fn remember(&self, kinds: Vec<ServedKind>) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let keyed = kinds
            .into_iter()
            .map(|kind| ((kind.api_version.clone(), kind.kind.clone()), kind));
        routes.extend(keyed);
    }
}

#[async_trait]
impl Cluster for ThroughProxy {
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError> {
        versions::of(&self.proxy, within).await
    }

    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        let kinds = discovery::preferred(&self.proxy, DISCOVERY).await?;
        self.remember(kinds.clone());
        Ok(kinds)
    }

    async fn all_kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        discovery::all(&self.proxy, DISCOVERY).await
    }

    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError> {
        discovery::of_version(&self.proxy, api_version, DISCOVERY).await
    }

    async fn review_token(
        &self,
        review: &TokenReview,
        within: Duration,
    ) -> Result<TokenVerdict, KubectlError> {
        let request = review::of_token(review)?;
        let answer = self.proxy.ask(&request, within).await?;
        review::token_verdict(review, &answer)
    }

    async fn review_access(
        &self,
        identity: &Identity,
        access: &ResourceAttributes,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError> {
        let request = review::of_access(identity, access)?;
        let answer = self.proxy.ask(&request, within).await?;
        review::access_verdict(&answer)
    }

    fn acting_for(self: Arc<Self>, caller: Caller, gate: Arc<Gate>) -> Arc<dyn ClusterApi> {
        Arc::new(Objects {
            cluster: self,
            caller,
            gate,
        })
    }
}
