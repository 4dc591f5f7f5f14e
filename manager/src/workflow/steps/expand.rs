//! Expands the configuration. After a failure nothing is stored, and an existing deployment stays as it was.
//!
//! If a reference of the latest manifest now resolves to something else, the operation has a warning. An upgrade
//! expands the latest manifest's configuration with another version of one template, and a change of properties expands it
//! with those.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{DeploymentName, GeneratedValue, InputConfig, TypeName};

use crate::domain::deployment::properties::{self, PropertiesError, PropertyChange};
use crate::domain::deployment::service_binding;
use crate::domain::manifest::resolution;
use crate::domain::operation::intent::Intent;
use crate::store::{Changes, broker, deployments, manifests, operations};
use crate::workflow::expansion::choice::{self, Choice, Latest};
use crate::workflow::expansion::cluster::View;
use crate::workflow::expansion::{Expanded, Looker, Subject, values};
use crate::workflow::step::{Done, Failure, Run, StepError};
use crate::workflow::upgrade::UpgradeTarget;

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let latest = choice::latest(run.store(), run.deployment()).await?;
    let subject = subject(run, latest.as_ref()).await?;
    let mut changes = Changes::default();
    let (input, choice) = match stored(run) {
        Some(Stored::AtVersion(template)) => {
            upgraded(run, latest.as_ref(), template, &mut changes).await?
        }
        Some(Stored::With(change)) => set(run, latest.as_ref(), change, &mut changes).await?,
        None => asked(run, latest.as_ref()).await?,
    };
    let expanded = run
        .dependencies
        .expansions
        .expand(&subject, input, &choice, run.deadline)
        .await;
    let Expanded {
        mut expansion,
        templates,
    } = expanded.map_err(Failure::clean)?;
    let mut warnings = std::mem::take(&mut expansion.warnings);
    let before = latest.map(|latest| latest.resolved).unwrap_or_default();
    warnings.extend(resolution::changes(&before, &expansion.resolved_types));
    let plans = std::mem::take(&mut expansion.plans);
    operations::put_plans(&mut changes, run.id(), &plans)?;
    operations::put_expansion(&mut changes, run.id(), &expansion, &templates)?;
    Ok(Done {
        changes,
        warnings,
        ..Done::default()
    })
}

/// The deployment, with the values that its latest manifest has.
pub async fn subject(run: &Run<'_>, latest: Option<&Latest>) -> Result<Subject, StepError> {
    let broker = broker::environment(run.store(), run.deployment()).await?;
    let kept = match (latest, service_binding::instance(&broker)) {
        (None, Some(instance)) => inherited(run, &instance).await?,
        (latest, _) => {
            let latest = latest.map(|latest| &latest.manifest);
            values::kept(run.store(), run.deployment(), latest).await?
        }
    };
    let regenerate = run.goal.intent.regenerate();
    Ok(Subject {
        deployment: run.deployment().clone(),
        namespace: run.namespace().await?,
        cluster: run.record.cluster.clone(),
        manifest: run.manifest()?.clone(),
        user: run.record.operation.user.clone(),
        time: run.record.operation.start_time,
        values: values::without(kept, regenerate).map_err(Failure::clean)?,
        seed: None,
        identity: run.record.identity.clone(),
        broker,
        charts: deployments::objects(run.store(), run.deployment())
            .await?
            .charts,
        capabilities: None,
        view: View::As(run.acting.clone()),
        looker: Some(Looker(run.acting.clone())),
    })
}

/// The values that a new binding has from its instance.
async fn inherited(
    run: &Run<'_>,
    instance: &DeploymentName,
) -> Result<Vec<GeneratedValue>, StepError> {
    let latest = choice::latest(run.store(), instance).await?;
    let latest = latest.as_ref().map(|latest| &latest.manifest);
    let kept = values::kept(run.store(), instance, latest).await?;
    Ok(values::inherited(kept))
}

/// How the latest manifest's configuration changes, if the operation uses it.
enum Stored<'a> {
    AtVersion(&'a TypeName),
    With(&'a PropertyChange),
}

fn stored<'a>(run: &Run<'a>) -> Option<Stored<'a>> {
    match &run.goal.intent {
        Intent::Update(change) => {
            let upgrade = change.upgrade.as_ref().map(Stored::AtVersion);
            upgrade.or(change.properties.as_ref().map(Stored::With))
        }
        Intent::Preview { properties, .. } => properties.as_ref().map(Stored::With),
        _ => None,
    }
}

/// The configuration of the request.
async fn asked(run: &Run<'_>, latest: Option<&Latest>) -> Result<(InputConfig, Choice), StepError> {
    let input = operations::input(run.store(), run.id()).await?;
    let choice = match run.record.options.locked {
        true => Choice::Locked(choice::record(run.store(), run.deployment(), latest).await?),
        false => Choice::Latest,
    };
    Ok((input, choice))
}

/// The latest manifest's configuration with the new version. It replaces the operation's input.
async fn upgraded(
    run: &Run<'_>,
    latest: Option<&Latest>,
    template: &TypeName,
    changes: &mut Changes,
) -> Result<(InputConfig, Choice), StepError> {
    let (store, name) = (run.store(), run.deployment());
    let expansions = &run.dependencies.expansions;
    let target = UpgradeTarget::find(expansions, template).await;
    let target = target.map_err(Failure::clean)?;
    let head = match latest {
        Some(latest) => manifests::head(store, name, &latest.manifest).await?,
        None => None,
    };
    let head = head.ok_or_else(|| Failure::clean(nothing(run)))?;
    let dependent = target.dependent(store, expansions, head).await?;
    let instead = target.instead(false);
    let input = target.rewritten(name.clone(), dependent).await;
    let input = input.map_err(Failure::clean)?;
    operations::replace_input(store, changes, run.id(), &input).await?;
    let record = choice::record(store, name, latest).await?;
    Ok((input, Choice::Instead(record, instead)))
}

/// The latest manifest's configuration with other properties. It replaces the operation's input.
async fn set(
    run: &Run<'_>,
    latest: Option<&Latest>,
    change: &PropertyChange,
    changes: &mut Changes,
) -> Result<(InputConfig, Choice), StepError> {
    let (store, name) = (run.store(), run.deployment());
    let Some(found) = latest else {
        return Err(Failure::clean(nothing(run)).into());
    };
    let input = manifests::input(store, name, &found.manifest).await?;
    let input = properties::changed(&input, change).map_err(|error| unchangeable(run, &error))?;
    operations::replace_input(store, changes, run.id(), &input).await?;
    let record = choice::record(store, name, latest).await?;
    Ok(match run.record.options.locked {
        true => (input, Choice::Locked(record)),
        false => (input, Choice::Recorded(record)),
    })
}

fn unchangeable(run: &Run<'_>, error: &PropertiesError) -> Failure {
    let message = format!(
        "the properties of deployment '{}' cannot be changed: {}; change its configuration, and update with that",
        run.deployment(),
        common::server::answer::error::chain(error)
    );
    Failure::clean(Box::new(ErrorBody::new(ErrorCode::InvalidRequest, message)))
}

fn nothing(run: &Run<'_>) -> Box<ErrorBody> {
    let message = format!(
        "deployment '{}' has no stored configuration that could be changed; deploy one first",
        run.deployment()
    );
    Box::new(ErrorBody::new(ErrorCode::InvalidRequest, message))
}
