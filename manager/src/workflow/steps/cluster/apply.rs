//! Applies the manifest: its objects are applied and waited for, and recorded objects that it does not list are pruned.

use common::api::deployer::{ApplyRequest, Report};
use common::model::{Deployment, Output};

use super::leftovers;
use super::verdict::{self, Verdict};
use crate::deployer::Job;
use crate::domain::deployment::service_binding;
use crate::domain::operation::correction;
use crate::domain::operation::intent::Intent;
use crate::store::deployments::Objects;
use crate::store::manifests::FinalProperties;
use crate::store::{StoreError, broker, deployments, manifests};
use crate::workflow::hooks;
use crate::workflow::job::follow;
use crate::workflow::step::{Done, Run, StepError};
use crate::workflow::steps::{notes, plans};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let mut before = run.stored().await?;
    let mut objects = deployments::objects(run.store(), run.deployment()).await?;
    let (request, has_notes) = request(run, &before, &objects).await?;
    let total = request.resources.len();
    let redaction = run.redaction().await?;
    let job = match run.goal.intent {
        Intent::Create(_) => Job::Create(request.into()),
        _ => Job::Update(request.into()),
    };
    let mut followed = follow::job(run, job, total, &redaction).await?;
    let (mut report_of_hooks, mut gone) = (Report::default(), Vec::new());
    let environment = broker::environment(run.store(), run.deployment()).await?;
    let is_binding = service_binding::is_one(&environment);
    let mut outputs = std::mem::take(&mut followed.outputs);
    let name = run.manifest()?;
    if followed.touched_nothing() && !run.resumed {
        // A caller without permissions could not even read the objects when deleting the deployment.
        objects.unconfirmed.retain(|manifest| manifest != name);
    }
    let plans = plans::of(run).await?;
    let mut flags = Vec::new();
    let mut known = objects.recorded.clone();
    let mut last = None;
    let mut warnings = Vec::new();
    let left = followed.objects(objects.recorded.clone());
    let mut verdict = match followed.ended {
        Ok(report) => {
            let verdict = verdict::of(&report);
            gone = hooks::to_remove(&report);
            report_of_hooks = hooks_of(&report);
            warnings = verdict::left_alone(&report);
            last = Some(final_properties(&report));
            objects.recorded = report.objects;
            objects.unconfirmed.retain(|manifest| manifest != name);
            if matches!(verdict, Verdict::Fine) {
                (before.outputs, before.notes) = notes::taken(report.outputs, has_notes);
                if is_binding {
                    service_binding::hide(&mut before.outputs);
                }
            }
            verdict
        }
        Err(error) => {
            objects.recorded = left;
            Verdict::Failed(error)
        }
    };
    if matches!(verdict, Verdict::Fine) {
        known.extend(objects.recorded.iter().cloned());
        verdict = leftovers::delete(run, &before, &mut objects, &known, &redaction).await?;
    }
    let stays = hooks::remove(
        run,
        &before,
        &report_of_hooks,
        gone,
        &mut objects,
        &redaction,
    );
    if let (Some(error), Verdict::Fine) = (stays.await?, &verdict) {
        verdict = Verdict::Failed(error);
    }
    if matches!(verdict, Verdict::Fine) && run.goal.intent != Intent::Correct {
        let layout = manifests::layout(run.store(), run.deployment(), name).await?;
        objects.charts = hooks::applied_once_more(&objects.charts, &layout);
    }
    if !plans.is_empty() {
        verdict = match verdict {
            Verdict::Fine => {
                let ended = plans::finish(run, &plans).await?;
                flags = ended.flags;
                match ended.result {
                    Ok(found) => {
                        add(&mut before.outputs, &found, is_binding);
                        add(&mut outputs, &found, false);
                        Verdict::Fine
                    }
                    Err(error) => Verdict::Failed(error),
                }
            }
            failed if run.resumed => {
                // An earlier process may have edited before.
                plans::take_back(run, &plans).await?;
                failed
            }
            failed => failed,
        };
    }
    if let Verdict::Failed(error) = &mut verdict {
        run.place(error).await?;
    }
    let mut concluded = verdict::conclude(run, before, &objects, verdict).await;
    if let (Some(properties), Some(changes)) = (last, verdict::changes(&mut concluded)) {
        let (store, deployment) = (run.store(), run.deployment());
        manifests::put_final_properties(store, changes, deployment, name, &properties).await?;
    }
    if let (true, Some(changes)) = (is_binding, verdict::changes(&mut concluded)) {
        broker::put_outputs(changes, run.deployment(), &outputs)?;
    } else if let (false, Some(changes)) = (flags.is_empty(), verdict::changes(&mut concluded)) {
        broker::put_outputs(changes, run.deployment(), &flags)?;
    }
    concluded.map(|done| Done { warnings, ..done })
}

/// Adds the outputs of plans. Those of the configuration itself win.
fn add(outputs: &mut Vec<Output>, further: &[Output], is_hidden: bool) {
    for one in further {
        if outputs.iter().all(|other| other.name != one.name) {
            outputs.push(one.clone());
        }
    }
    if is_hidden {
        service_binding::hide(outputs);
    }
}

/// The request, and whether notes are among its outputs.
async fn request(
    run: &Run<'_>,
    before: &Deployment,
    objects: &Objects,
) -> Result<(ApplyRequest, bool), StoreError> {
    let name = run.manifest()?;
    let manifest = manifests::expansion(run.store(), run.deployment(), name).await?;
    let head = manifests::head(run.store(), run.deployment(), name).await?;
    let (outputs, notes) = head
        .map(|head| (head.outputs, head.notes))
        .unwrap_or_default();
    let has_notes = notes.is_some();
    let outputs = notes::with_outputs(outputs, notes);
    let (namespace, recorded) = (before.namespace.clone(), objects.recorded.clone());
    let hooks = hooks::of_apply(run, &manifest.resources, objects).await?;
    let mut request = run.request(namespace, manifest.resources, outputs, recorded);
    request.hooks = hooks;
    request.create_namespace = run.record.options.create_namespace;
    request.predecessor = match run.goal.intent {
        Intent::Create(_) => run.record.options.predecessor,
        _ => None,
    };
    request.preflight = !run.record.options.skip_preflight && !run.resumed;
    match run.goal.intent {
        // A begun apply may have changed the objects itself. The previous step verified them before that.
        Intent::Commit(_) if !run.resumed => {
            let preview = manifests::preview(run.store(), run.deployment(), name).await?;
            let seen = preview.map(|preview| preview.resources).unwrap_or_default();
            request.expected = seen.into_iter().map(|resource| resource.basis).collect();
        }
        Intent::Correct => correction::take_back(&mut request.resources),
        _ => {}
    }
    Ok((request, has_notes))
}

/// The part of a report that is about hooks.
fn hooks_of(report: &Report) -> Report {
    let resources = report.resources.iter();
    let hooks = resources.filter(|resource| resource.hook.is_some());
    Report {
        resources: hooks.cloned().collect(),
        ..Report::default()
    }
}

/// Secrets are not kept a second time.
fn final_properties(report: &Report) -> Vec<FinalProperties> {
    let resources = report.resources.iter();
    let known = resources.filter_map(|resource| {
        let object = resource
            .object
            .clone()
            .filter(|object| object.kind != "Secret")?;
        let properties = resource.final_properties.clone()?;
        Some(FinalProperties { object, properties })
    });
    known.collect()
}
