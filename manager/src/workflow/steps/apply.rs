//! Brings the cluster to the manifest: what it lists is applied and ready, what is recorded and not listed is pruned.

use common::api::deployer::{ApplyRequest, Policies};
use common::model::Deployment;

use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::operation::Intent;
use crate::store::deployments::Objects;
use crate::store::{StoreError, deployments, manifests};
use crate::workflow::follow::{self, Followed};
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let mut before = run.stored().await?;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let request = request(run, &before, &objects).await?;
    let total = request.resources.len();
    let job = match run.record.intent {
        Intent::Create { .. } => Job::Create(request),
        Intent::Update { .. } | Intent::Delete { .. } => Job::Update(request),
    };
    let Followed { seen, ended } = follow::job(run, job, total).await;
    let name = run.manifest()?;
    let mut verdict = match ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            objects.recorded = report.objects;
            if matches!(verdict, Verdict::Fine) {
                before.outputs = report.outputs;
            }
            objects.unconfirmed.retain(|manifest| manifest != name);
            verdict
        }
        Err(error) => {
            objects.recorded = follow::merged(objects.recorded, seen);
            Verdict::Failed(error)
        }
    };
    if let Verdict::Failed(error) = &mut verdict {
        run.place(error).await?;
    }
    verdict::conclude(before, &objects, verdict)
}

async fn request(
    run: &Run<'_>,
    before: &Deployment,
    objects: &Objects,
) -> Result<ApplyRequest, StoreError> {
    let name = run.manifest()?;
    let manifest = manifests::expansion(run.store(), run.deployment(), name).await?;
    let head = manifests::head(run.store(), run.deployment(), name).await?;
    Ok(ApplyRequest {
        deployment: run.deployment().clone(),
        namespace: before.namespace.clone(),
        resources: manifest.resources,
        recorded: objects.recorded.clone(),
        policies: Policies::default(),
        expected: Vec::new(),
        outputs: head.map(|head| head.outputs).unwrap_or_default(),
        timeout_ms: follow::left_ms(run.deadline),
    })
}
