//! What charts see of the cluster: what it can do, and objects that they look up. Only the deployer reads the cluster.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use common::api::cluster::{
    Capabilities, LOOKUP_BYTES, LOOKUPS, Lookup, LookupAnswer, LookupRequest,
};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{ClusterName, Identity, Import, LayoutPath, SecretValue};
use common::redact::REDACTED;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::deployer::{Deployer, Deployers};
use crate::workflow::retry::Retry;

/// How long the abilities of the cluster are reused.
const FRESH: Duration = Duration::from_secs(10);

/// Whether an expansion may look at objects of the cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum View {
    /// Nothing is found.
    #[default]
    None,
    /// With the rights of this identity.
    As(Option<Identity>),
}

/// A view of each cluster.
pub struct ClusterViews {
    deployers: Arc<dyn Deployers>,
    retry: Retry,
    views: std::sync::Mutex<HashMap<ClusterName, Arc<ClusterView>>>,
}

impl ClusterViews {
    pub fn new(deployers: Arc<dyn Deployers>, retry: Retry) -> Self {
        Self {
            deployers,
            retry,
            views: Default::default(),
        }
    }

    pub fn of(&self, cluster: &ClusterName) -> Arc<ClusterView> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || ClusterView::new(self.deployers.of(cluster), self.retry.clone());
        let view = views.entry(cluster.clone());
        view.or_insert_with(|| Arc::new(new())).clone()
    }
}

pub struct ClusterView {
    deployer: Arc<dyn Deployer>,
    retry: Retry,
    known: Mutex<Option<(Instant, Arc<Capabilities>)>>,
}

/// Whether charts are among the files.
pub fn has_charts(files: &[Import]) -> bool {
    let any = |is_it: &dyn Fn(&str) -> bool| {
        let mut files = files.iter();
        files.any(|file| is_it(&file.name) || is_it(file.path()))
    };
    let is_packed = |text: &str| text.ends_with(".tgz");
    let has_metadata = |text: &str| text.ends_with("Chart.yaml");
    let has_templates = |text: &str| text.contains("templates/");
    any(&is_packed) || (any(&has_metadata) && any(&has_templates))
}

impl ClusterView {
    pub fn new(deployer: Arc<dyn Deployer>, retry: Retry) -> Self {
        Self {
            deployer,
            retry,
            known: Mutex::new(None),
        }
    }

    /// What the cluster can do. One caller at a time asks for it.
    pub async fn capabilities(&self, left: Duration) -> Result<Arc<Capabilities>, Box<ErrorBody>> {
        let mut known = self.known.lock().await;
        if let Some((_, found)) = known.as_ref().filter(|(since, _)| since.elapsed() < FRESH) {
            return Ok(found.clone());
        }
        let ask = || self.deployer.capabilities(left);
        let found = Arc::new(self.retry.persist(ask).await?);
        *known = Some((Instant::now(), found.clone()));
        Ok(found)
    }

    /// Adds the answers to what is looked up.
    pub async fn look_up(
        &self,
        identity: Option<&Identity>,
        wanted: Vec<Lookup>,
        answers: &mut Vec<LookupAnswer>,
        left: Duration,
    ) -> Result<(), Box<ErrorBody>> {
        let known: HashSet<&Lookup> = answers.iter().map(|answer| &answer.lookup).collect();
        let wanted = wanted.into_iter().filter(|lookup| !known.contains(lookup));
        let wanted: Vec<Lookup> = wanted.collect();
        if wanted.is_empty() || answers.len() + wanted.len() > LOOKUPS {
            return Err(refused(format!(
                "the templates look up more than {LOOKUPS} objects"
            )));
        }
        let request = Arc::new(LookupRequest {
            lookups: wanted,
            on_behalf_of: identity.cloned(),
        });
        let ask = || self.deployer.look_up(request.clone(), left);
        let found = self.retry.persist(ask).await?;
        if !found
            .iter()
            .map(|answer| &answer.lookup)
            .eq(&request.lookups)
        {
            return Err(refused(
                "resourcifier answered other lookups than asked".to_owned(),
            ));
        }
        answers.extend(found);
        let bytes: usize = answers.iter().map(LookupAnswer::bytes).sum();
        match bytes > LOOKUP_BYTES {
            true => Err(refused(format!(
                "what the templates look up has more than {} MiB together; look up single objects by their names",
                LOOKUP_BYTES >> 20
            ))),
            false => Ok(()),
        }
    }
}

fn refused(message: String) -> Box<ErrorBody> {
    Box::new(ErrorBody::new(ErrorCode::TemplateFailed, message))
}

/// The values of Secrets that were looked up: a template may put them anywhere.
pub fn secrets(answers: &[LookupAnswer]) -> Vec<SecretValue> {
    let found = answers
        .iter()
        .filter(|answer| answer.lookup.kind == "Secret");
    let objects = found
        .filter_map(|answer| answer.found.as_ref())
        .flat_map(|found| {
            let items = found["items"].as_array();
            items.map_or_else(|| vec![found], |items| items.iter().collect())
        });
    let values = objects.flat_map(|object| {
        let data = object["data"].as_object();
        data.into_iter().flat_map(|data| data.values())
    });
    let texts = values.filter_map(Value::as_str);
    let texts = texts.filter(|text| !text.is_empty() && *text != REDACTED);
    let secret = |value: &str| SecretValue {
        path: LayoutPath::root(),
        pointer: "/lookup".to_owned(),
        value: Value::from(value),
    };
    texts
        .flat_map(|text| [Some(secret(text)), decoded(text).as_deref().map(secret)])
        .flatten()
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    use base64::Engine as _;
    let bytes = base64::prelude::BASE64_STANDARD.decode(text).ok()?;
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.is_empty())
}
