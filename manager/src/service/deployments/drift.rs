//! Checks deployments for drift on a schedule, records the result, and corrects drift if the deployment's policy asks
//! for it.
//!
//! A check blocks nobody: it takes no lock on the deployment, and its result is dropped if the deployment changed
//! meanwhile.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use common::api::deployer::{ObjectState, ObjectStatus};
use common::api::page::PageQuery;
use common::model::limits::LIVE_ITEMS_MAX;
use common::model::{Deployment, DeploymentStatus, Drift, DriftPolicy, Identity};
use common::server::observe::metrics;
use futures::StreamExt;
use jiff::Timestamp;
use prometheus::{IntCounterVec, IntGauge, Opts};

use super::live::LiveState;
use crate::domain::deployment;
use crate::error::Error;
use crate::service::writes::Writes;
use crate::store::{Changes, Store, deployments};

/// Deployments that are checked in parallel. Each costs the cluster a list, and a dry run of each changed object.
const AT_ONCE: usize = 4;
/// Objects in one request. Each request lists all objects of the deployment.
const OBJECTS_AT_ONCE: usize = LIVE_ITEMS_MAX;
/// The variation of the interval in percent, so that several managers do not start their rounds together.
const JITTER_PERCENT: u32 = 10;

static CHECKS: LazyLock<Option<IntCounterVec>> = LazyLock::new(|| {
    let opts = Opts::new(
        "dm_drift_checks_total",
        "Looks for drift, by what was found: none, drifted, failed.",
    );
    let counter = IntCounterVec::new(opts, &["found"]).ok()?;
    metrics::register(counter.clone());
    Some(counter)
});

static DRIFTED: LazyLock<Option<IntGauge>> = LazyLock::new(|| {
    let help = "Deployments whose cluster has drifted from them, as the last round saw.";
    let gauge = IntGauge::new("dm_drifted_deployments", help).ok()?;
    metrics::register(gauge.clone());
    Some(gauge)
});

pub struct DriftChecks {
    pub store: Store,
    pub live: Arc<LiveState>,
    pub writes: Arc<Writes>,
}

impl DriftChecks {
    /// Runs one round per interval until the process ends.
    pub async fn run(&self, interval: Duration) {
        loop {
            tokio::time::sleep(jittered(interval, uuid::Uuid::now_v7().as_u128())).await;
            match self.round().await {
                Ok(drifted) => tracing::info!(drifted, "{drifted} deployments have drifted"),
                Err(error) => {
                    let error = common::server::answer::error::chain(&error);
                    tracing::error!(error, "the deployments cannot be read to look for drift");
                }
            }
        }
    }

    /// Checks every deployment once. Returns how many have drifted.
    pub async fn round(&self) -> Result<usize, Error> {
        let (mut page, mut drifted) = (PageQuery::default(), 0);
        loop {
            let found = deployments::page(&self.store, &page).await?;
            let looks = futures::stream::iter(found.items).map(|deployment| self.look(deployment));
            let looks: Vec<_> = looks.buffer_unordered(AT_ONCE).collect().await;
            drifted += looks.iter().filter(|drifted| **drifted).count();
            page.page_token = found.next_page_token;
            if page.page_token.is_none() {
                break;
            }
        }
        if let Some(gauge) = &*DRIFTED {
            gauge.set(i64::try_from(drifted).unwrap_or(i64::MAX));
        }
        Ok(drifted)
    }

    /// Whether the deployment has drifted. Only deployed ones are checked: others are in progress or known to have
    /// failed.
    async fn look(&self, deployment: Deployment) -> bool {
        if deployment.state.status != DeploymentStatus::Deployed {
            return false;
        }
        let name = deployment.name.clone();
        match self.found(deployment).await {
            Ok(resources) => {
                count(if resources > 0 { "drifted" } else { "none" });
                resources > 0
            }
            Err(error) => {
                count("failed");
                let error = common::server::answer::error::chain(&error);
                tracing::warn!(deployment = %name, error, "{name} cannot be looked at for drift: {error}");
                false
            }
        }
    }

    async fn found(&self, deployment: Deployment) -> Result<u32, Error> {
        let resources = self.drifted(&deployment).await?;
        self.note(&deployment, resources).await?;
        if resources > 0 && deployment.drift_policy == DriftPolicy::Correct {
            let writer = deployments::writer(&self.store, &deployment.name).await?;
            let handle = self.writes.correct(&deployment, writer).await?;
            let (name, id) = (&deployment.name, &handle.watch().operation().id);
            tracing::info!(deployment = %name, operation.id = %id, "{resources} resources of {name} have drifted; operation {id} corrects them");
        }
        Ok(resources)
    }

    /// The number of its resources that have drifted.
    async fn drifted(&self, deployment: &Deployment) -> Result<u32, Error> {
        let recorded = deployments::objects(&self.store, &deployment.name)
            .await?
            .recorded;
        let acting = self.acting(deployment).await?;
        let mut drifted = 0;
        for objects in recorded.chunks(OBJECTS_AT_ONCE) {
            let objects = objects.to_vec();
            let acting = acting.clone();
            let statuses = self.live.status(deployment, objects, true, acting).await?;
            drifted += statuses.iter().filter(|status| has_drifted(status)).count();
        }
        Ok(u32::try_from(drifted).unwrap_or(u32::MAX))
    }

    /// The identity for the check: the last writer or the deployment's service account, as for the apply.
    async fn acting(&self, deployment: &Deployment) -> Result<Option<Identity>, Error> {
        let writer = deployments::writer(&self.store, &deployment.name).await?;
        let access = &self.writes.gate.access;
        let account = deployment.service_account.as_ref();
        let place = (&deployment.cluster, &deployment.namespace);
        Ok(access.acting(writer.as_ref(), place, account).await?)
    }

    /// Records the result, if the deployment has not changed and no operation runs on it.
    async fn note(&self, looked_at: &Deployment, resources: u32) -> Result<(), Error> {
        let found = deployments::find(&self.store, &looked_at.name).await?;
        let same =
            |found: &deployments::Found| found.deployment.fingerprint == looked_at.fingerprint;
        let Some(found) = found.filter(same) else {
            return Ok(());
        };
        let drift = Drift {
            checked_at: Timestamp::now(),
            resources,
        };
        let mut changes = Changes::default();
        deployments::expect_free(&mut changes, &looked_at.name);
        deployments::expect(&mut changes, &looked_at.name, Some(&found));
        deployments::put(&mut changes, &deployment::checked(found.deployment, drift))?;
        match self.store.commit(changes).await {
            Err(error) if !error.is_conflict() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn has_drifted(status: &ObjectStatus) -> bool {
    !status.drift.is_empty() || matches!(status.state, ObjectState::Missing | ObjectState::Replaced)
}

fn count(found: &str) {
    if let Some(checks) = &*CHECKS {
        checks.with_label_values(&[found]).inc();
    }
}

/// The interval, slightly shorter or longer.
fn jittered(interval: Duration, random: u128) -> Duration {
    let percent = u32::try_from(random % u128::from(2 * JITTER_PERCENT + 1)).unwrap_or_default();
    interval * (100 - JITTER_PERCENT + percent) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_begins_near_its_time() {
        let interval = Duration::from_secs(100);
        let times: Vec<_> = (0..50).map(|random| jittered(interval, random)).collect();
        assert_eq!(times.iter().min(), Some(&Duration::from_secs(90)));
        assert_eq!(times.iter().max(), Some(&Duration::from_secs(110)));
    }
}
