//! What the cluster serves, remembered between requests and asked again when something is missing from it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::model::ObjectRef;
use tokio::sync::Mutex;

use crate::kubectl::{Cluster, KubectlError, ObjectError, ObjectFault};
use crate::plan::{Catalog, Wanted};

/// Definitions come and go. Asking costs a tenth of a second, a deletion that looks for a kind that is gone much more.
const FRESH: Duration = Duration::from_secs(10);

pub struct Discovery {
    cluster: Arc<dyn Cluster>,
    known: Mutex<Option<Known>>,
}

struct Known {
    catalog: Arc<Catalog>,
    since: Instant,
}

impl Discovery {
    pub fn new(cluster: Arc<dyn Cluster>) -> Self {
        Self {
            cluster,
            known: Mutex::new(None),
        }
    }

    /// A catalog that has all that is wanted, as far as the cluster serves it.
    pub async fn catalog(&self, wanted: &[Wanted]) -> Result<Arc<Catalog>, KubectlError> {
        self.catalog_where(
            |catalog| wanted.iter().all(|wanted| catalog.find(wanted).is_ok()),
            wanted,
        )
        .await
    }

    /// A catalog that has the kinds of objects on record, as far as the cluster still serves them.
    pub async fn catalog_of(&self, objects: &[ObjectRef]) -> Result<Arc<Catalog>, KubectlError> {
        self.catalog_where(
            |catalog| {
                objects
                    .iter()
                    .all(|object| catalog.current(object).is_some())
            },
            &[],
        )
        .await
    }

    /// One request at a time asks the cluster; the others wait for what it finds.
    async fn catalog_where(
        &self,
        suffices: impl Fn(&Catalog) -> bool,
        wanted: &[Wanted],
    ) -> Result<Arc<Catalog>, KubectlError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known
            .as_ref()
            .filter(|known| known.since.elapsed() < FRESH && suffices(&known.catalog))
        {
            return Ok(known.catalog.clone());
        }
        let mut catalog = Catalog::new(self.cluster.kinds().await?);
        self.add_versions(&mut catalog, wanted).await?;
        let catalog = Arc::new(catalog);
        *known = Some(Known {
            catalog: catalog.clone(),
            since: Instant::now(),
        });
        Ok(catalog)
    }

    /// The preferred versions are not all: those that are asked for by name may be served too.
    async fn add_versions(
        &self,
        catalog: &mut Catalog,
        wanted: &[Wanted],
    ) -> Result<(), KubectlError> {
        for wanted in wanted {
            let Some(api_version) = &wanted.api_version else {
                continue;
            };
            if catalog.find(wanted).is_err()
                && is_version(api_version)
                && !catalog.knows_version(api_version)
            {
                let kinds = self.cluster.kinds_of(api_version).await;
                let kinds = kinds.map_err(|error| away(api_version, error))?;
                catalog.add_version(api_version, kinds);
            }
        }
        Ok(())
    }
}

/// A group that another server serves than the API server itself may be away alone.
fn away(api_version: &str, error: KubectlError) -> KubectlError {
    if !error.is_transient() {
        return error;
    }
    let text = format!(
        "which kinds {api_version} has is unknown, because the server behind this API group does not answer: {error}"
    );
    KubectlError::Object(ObjectError {
        fault: ObjectFault::Transient,
        text,
        causes: Vec::new(),
    })
}

/// `v1` or `apps/v1`: anything else must not get into a path.
fn is_version(api_version: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
            && part != "."
            && part != ".."
    };
    api_version.split('/').count() <= 2 && api_version.split('/').all(is_part)
}
