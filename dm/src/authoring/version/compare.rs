//! Whether a version keeps the promises of the previous one.
//!
//! Properties are compared by the schemas. Outputs are not in a schema, so they are known only after an expansion. The
//! *previous* version's example is expanded with both versions, and the outputs of its instances are compared by name and kind.
//! A user of the previous version has the same: an unchanged configuration and the new template. If the example no longer
//! expands, the version breaks it. Outputs that depend on properties outside the example are not compared.

use common::api::manager::Expansion;
use common::model::Version;

use super::expander::{ExampleExpander, ExpansionFailure};
use super::{EXAMPLE, TemplateVersion};
use crate::authoring::compatibility::{Outputs, Promise, VersionStep, violations};

#[derive(Debug)]
pub struct Comparison {
    pub before: Version,
    pub now: Version,
    /// One sentence for each change that the rules forbid.
    pub violations: Vec<String>,
    /// What could not be compared, and why.
    pub uncompared: Option<String>,
    /// Whether the rules allow all changes in the next MINOR.
    pub is_minor: bool,
}

/// Why outputs cannot be compared.
enum Unseen {
    Broken(String),
    Unknown(String),
}

/// `None` where one of them has no version.
pub async fn compare(
    before: &TemplateVersion,
    now: &TemplateVersion,
    expander: &ExampleExpander<'_>,
) -> Option<Comparison> {
    let (earlier, later) = (before.version?, now.version?);
    let step = VersionStep::between(earlier, later);
    let mut comparison = Comparison {
        before: earlier,
        now: later,
        violations: all_violations(step, before, now, &[]),
        uncompared: None,
        is_minor: true,
    };
    if step == VersionStep::Major {
        return Some(comparison);
    }
    match outputs(before, now, expander).await {
        Ok(pairs) => {
            comparison.violations = all_violations(step, before, now, &pairs);
            comparison.is_minor =
                all_violations(VersionStep::Minor, before, now, &pairs).is_empty();
        }
        Err(unseen) => {
            comparison.is_minor = all_violations(VersionStep::Minor, before, now, &[]).is_empty();
            match unseen {
                Unseen::Unknown(reason) => {
                    comparison.uncompared = Some(format!("outputs are not compared: {reason}"));
                }
                // A property that is gone may be why: then there is a sentence about it.
                Unseen::Broken(_) if !comparison.violations.is_empty() => {}
                Unseen::Broken(fault) => {
                    comparison.is_minor = false;
                    comparison.violations.push(format!(
                        "{EXAMPLE} of {earlier} does not expand with it: {fault}"
                    ));
                }
            }
        }
    }
    Some(comparison)
}

fn all_violations(
    step: VersionStep,
    before: &TemplateVersion,
    now: &TemplateVersion,
    outputs: &[[Outputs; 2]],
) -> Vec<String> {
    let schemas = [before, now].map(|release| Promise {
        schema: release.schema.as_ref(),
        outputs: None,
    });
    let promises = outputs.iter().map(|pair| {
        pair.each_ref().map(|outputs| Promise {
            schema: None,
            outputs: Some(outputs),
        })
    });
    let mut sentences: Vec<String> = Vec::new();
    for [before, now] in std::iter::once(schemas).chain(promises) {
        for sentence in violations(step, before, now) {
            // Several instances often have the same violation.
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
    }
    sentences
}

/// The outputs of each instance in the previous example: with the previous version, and with the new one.
async fn outputs(
    before: &TemplateVersion,
    now: &TemplateVersion,
    expander: &ExampleExpander<'_>,
) -> Result<Vec<[Outputs; 2]>, Unseen> {
    let unknown = |error: super::VersionError| Unseen::Unknown(error.to_string());
    let earlier = before.version.map(|version| version.to_string());
    let earlier = earlier.unwrap_or_default();
    let names = before.instances().map_err(unknown)?;
    let own = expander.expand(before.bundle().map_err(unknown)?).await;
    let own = own.map_err(|error| match error {
        ExpansionFailure::Faulty(reason) | ExpansionFailure::Unknown(reason) => {
            Unseen::Unknown(format!("{EXAMPLE} of {earlier}: {reason}"))
        }
    })?;
    let by = expander
        .expand(before.bundle_by(now).map_err(unknown)?)
        .await;
    let by = by.map_err(|error| match error {
        ExpansionFailure::Faulty(reason) => Unseen::Broken(reason),
        ExpansionFailure::Unknown(reason) => Unseen::Unknown(reason),
    })?;
    let pair = |name: &String| [&own, &by].map(|expansion| promised(expansion, name));
    Ok(names.iter().map(pair).collect())
}

fn promised(expansion: &Expansion, instance: &str) -> Outputs {
    let instances = expansion.instance_outputs.iter();
    let of = instances.filter(|found| found.name.as_str() == instance);
    of.flat_map(|found| &found.outputs)
        .map(|output| (output.name.clone(), output.kind))
        .collect()
}
