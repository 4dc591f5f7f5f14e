//! The hooks of an operation: which of them run, and what becomes of their objects.
//!
//! A job runs hooks and leaves their objects. The operation then records which have run, and deletes the objects that
//! their policies want deleted. So an operation that a crash cuts off finds the object of a hook or the record of its
//! run, and runs no hook twice.

use common::api::deployer::{
    DeleteHooks, DeleteRequest, DoneHook, Hooks, Occasion, Report, ResourceReport, ResourceState,
};
use common::api::error::ErrorBody;
use common::model::{
    AppliedChart, AppliedObject, ChartPath, Deployment, Layout, LayoutNode, Resource,
};

use super::job::follow;
use super::step::{Run, StepError};
use crate::deployer::Job;
use crate::domain::operation::intent::Intent;
use crate::domain::redaction::Redaction;
use crate::store::deployments::Objects;
use crate::store::{Changes, StoreError, manifests, operations};

fn is_hook(resource: &Resource) -> bool {
    let metadata = resource.metadata.as_ref();
    metadata.is_some_and(|metadata| metadata.get("hook").is_some_and(|hook| !hook.is_null()))
}

/// The hooks of an apply or a preview, if there are any.
pub async fn of_apply(
    run: &Run<'_>,
    resources: &[Resource],
    objects: &Objects,
) -> Result<Option<Hooks>, StoreError> {
    if run.record.options.without_hooks {
        return Ok(None);
    }
    let occasion = match run.goal.intent {
        Intent::Correct => return Ok(None),
        Intent::Rollback { .. } => Occasion::Rollback,
        _ => Occasion::Upgrade,
    };
    if !resources.iter().any(is_hook) {
        return Ok(None);
    }
    Ok(Some(Hooks {
        occasion,
        installed: installed(objects),
        done: operations::done_hooks(run.store(), run.id()).await?,
    }))
}

/// The hooks of a test, if there are any.
pub async fn of_test(
    run: &Run<'_>,
    resources: &[Resource],
    objects: &Objects,
) -> Result<Option<Hooks>, StoreError> {
    if tests(resources) == 0 {
        return Ok(None);
    }
    Ok(Some(Hooks {
        occasion: Occasion::Test,
        installed: installed(objects),
        done: operations::done_hooks(run.store(), run.id()).await?,
    }))
}

/// How many test hooks there are.
pub fn tests(resources: &[Resource]) -> usize {
    let is_test = |resource: &&Resource| has_event(resource, &["test"]);
    resources.iter().filter(is_test).count()
}

fn has_event(resource: &Resource, wanted: &[&str]) -> bool {
    let hook = resource
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.get("hook"));
    let events = hook.and_then(|hook| hook.get("events")?.as_array());
    let mut events = events
        .into_iter()
        .flatten()
        .filter_map(|event| event.as_str());
    events.any(|event| wanted.contains(&event))
}

/// The hooks of an update that is only compared with the cluster.
pub fn of_diff(resources: &[Resource], objects: &Objects) -> Option<Hooks> {
    resources.iter().any(is_hook).then(|| Hooks {
        occasion: Occasion::Upgrade,
        installed: installed(objects),
        done: Vec::new(),
    })
}

/// The charts that were applied with success. The deployment itself is the empty path.
fn installed(objects: &Objects) -> Vec<ChartPath> {
    let charts = objects.charts.iter().map(|one| one.chart.clone());
    charts.collect()
}

/// The hooks of a deletion: those of the manifest that was applied last.
pub async fn of_delete(
    run: &Run<'_>,
    objects: &Objects,
) -> Result<Option<DeleteHooks>, StoreError> {
    let applied = objects.applied.as_ref();
    let Some(applied) = applied.filter(|_| !run.record.options.without_hooks) else {
        return Ok(None);
    };
    let (store, deployment) = (run.store(), run.deployment());
    let found = manifests::head(store, deployment, applied).await?;
    if found.is_none() {
        return Ok(None);
    }
    let resources = manifests::expansion(store, deployment, applied)
        .await?
        .resources;
    let wants = |resource: &Resource| has_event(resource, &["pre-delete", "post-delete"]);
    if !resources.iter().any(wants) {
        return Ok(None);
    }
    let done = operations::done_hooks(store, run.id()).await?;
    Ok(Some(DeleteHooks { resources, done }))
}

/// The objects of hooks that their policies want deleted now.
pub fn to_remove(report: &Report) -> Vec<AppliedObject> {
    let wanted = |resource: &&ResourceReport| resource.hook.is_some_and(|hook| hook.remove);
    report
        .resources
        .iter()
        .filter(wanted)
        .filter_map(applied)
        .collect()
}

fn applied(resource: &ResourceReport) -> Option<AppliedObject> {
    Some(AppliedObject {
        resource: resource.name.clone(),
        object: resource.object.clone()?,
        uid: resource.uid.clone()?,
    })
}

/// Records the hooks that have run. Those that failed run again if the operation is resumed.
async fn record(run: &Run<'_>, report: &Report) -> Result<(), StoreError> {
    let ready = report.resources.iter();
    let ready = ready.filter(|resource| resource.state == ResourceState::Ready);
    let new = ready.filter_map(|resource| {
        Some(DoneHook {
            event: resource.hook?.event,
            object: resource.object.clone()?,
        })
    });
    let mut done = operations::done_hooks(run.store(), run.id()).await?;
    done.extend(new);
    let mut changes = Changes::default();
    operations::put_done_hooks(run.store(), &mut changes, run.id(), &done).await?;
    run.store().commit(changes).await
}

/// Deletes objects of hooks, and takes them out of the record. The error, if one of them stays.
pub async fn remove(
    run: &Run<'_>,
    before: &Deployment,
    report: &Report,
    gone: Vec<AppliedObject>,
    objects: &mut Objects,
    redaction: &Redaction,
) -> Result<Option<Box<ErrorBody>>, StepError> {
    if gone.is_empty() {
        return Ok(None);
    }
    record(run, report).await?;
    let request = DeleteRequest {
        deployment: run.deployment().clone(),
        namespace: before.namespace.clone(),
        recorded: gone.clone(),
        unconfirmed: Vec::new(),
        kept: Vec::new(),
        hooks: None,
        delete_policy: None,
        allow_deletes: run.record.options.allow_deletes,
        restore_acquired: false,
        on_behalf_of: run.acting.clone(),
        timeout_ms: follow::left_ms(run.deadline),
        fence: None,
    };
    let followed = follow::job(run, Job::Delete(request.into()), 0, redaction).await?;
    let left = followed.objects(gone.clone());
    let (left, error) = match followed.ended {
        Ok(report) => {
            let mut errors = report.resources.iter().filter_map(|one| one.error.clone());
            let error = errors.next().map(Box::new);
            (report.objects, error)
        }
        Err(error) => (left, Some(error)),
    };
    let is_in = |all: &[AppliedObject], one: &AppliedObject| {
        all.iter()
            .any(|other| other.object.is_same_object(&one.object))
    };
    objects
        .recorded
        .retain(|old| !is_in(&gone, old) || is_in(&left, old));
    Ok(error)
}

/// How often each chart was applied, after one more success. Charts that are not there any more are forgotten.
pub fn applied_once_more(known: &[AppliedChart], layout: &Layout) -> Vec<AppliedChart> {
    let mut charts = vec![ChartPath::new()];
    collect(&layout.resources, &ChartPath::new(), &mut charts);
    let times = |chart: &ChartPath| {
        let before = known.iter().find(|known| known.chart == *chart);
        before.map_or(0, |known| known.times) + 1
    };
    let counted = charts.into_iter().map(|chart| AppliedChart {
        times: times(&chart),
        chart,
    });
    counted.collect()
}

/// A chart is an instance that has a resource with the file of a chart.
fn collect(nodes: &[LayoutNode], around: &ChartPath, charts: &mut Vec<ChartPath>) {
    for node in nodes {
        let Some(inner) = &node.resources else {
            continue;
        };
        let mut path = around.clone();
        path.push(node.name.clone());
        if inner.iter().any(|node| node.source.is_some()) {
            charts.push(path.clone());
        }
        collect(inner, &path, charts);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn charts_are_counted_by_their_names_and_forgotten_when_they_are_gone() {
        let chart = |name: &str| {
            json!({"name": name, "type": "chart", "properties": {}, "resources": [
            {"name": "one", "type": "ConfigMap", "source": "web/templates/one.yaml"}]})
        };
        let layout = |resources| serde_json::from_value(json!({"resources": resources})).unwrap();
        let both: Layout = layout(
            json!([chart("web"), {"name": "site", "type": "t.jinja", "properties": {}, "resources": [chart("web")]}]),
        );
        let once = applied_once_more(&[], &both);
        let shown = |charts: &[AppliedChart]| {
            let text = |one: &AppliedChart| {
                let names: Vec<&str> = one.chart.iter().map(|name| name.as_str()).collect();
                format!("{} {}", names.join("/"), one.times)
            };
            charts.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(shown(&once), [" 1", "web 1", "site/web 1"]);
        let one: Layout = layout(json!([chart("web")]));
        assert_eq!(shown(&applied_once_more(&once, &one)), [" 2", "web 2"]);
    }
}
