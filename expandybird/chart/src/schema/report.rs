//! From a flat list of errors to the tree that Helm prints.
//!
//! A schema with one fault is that fault. One with several faults is a block around them. The outermost schema has no
//! block.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::text::{quoted, text};

/// Keywords whose schemas have a name or a number between them and their faults.
const WITH_NAMES: [&str; 6] = [
    "properties",
    "patternProperties",
    "prefixItems",
    "dependentSchemas",
    "dependencies",
    "allOf",
];

/// Keywords whose schemas are about what is in the instance, and not about the instance.
const WITHIN: [&str; 7] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "prefixItems",
    "items",
    "unevaluatedItems",
];

/// A line, and the lines below it.
struct Line {
    /// The instance's path.
    at: String,
    text: String,
    causes: Vec<Line>,
}

/// The errors of a schema, as lines.
pub fn report(errors: &[ValidationError<'_>]) -> String {
    let faults: Vec<_> = errors.iter().map(Paths::new).collect();
    let faults: Vec<_> = faults.iter().map(|paths| paths.fault(0, 0)).collect();
    let mut out = Vec::new();
    for line in lines(&faults) {
        line.write(0, &mut out);
    }
    out.join("\n")
}

impl Line {
    fn write(&self, depth: usize, out: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        out.push(format!("{indent}- at {}: {}", quoted(&self.at), self.text));
        for cause in &self.causes {
            cause.write(depth + 1, out);
        }
    }
}

/// An error with the segments of its paths.
struct Paths<'f, 'e> {
    error: &'f ValidationError<'e>,
    schema: Vec<String>,
    instance: Vec<String>,
}

impl<'f, 'e> Paths<'f, 'e> {
    fn new(error: &'f ValidationError<'e>) -> Self {
        Self {
            error,
            schema: segments(error.evaluation_path().as_str()),
            instance: segments(error.instance_path().as_str()),
        }
    }

    /// The error as seen from a schema and an instance so many segments below the outermost ones.
    fn fault(&self, schema: usize, instance: usize) -> Fault<'_, 'e> {
        Fault {
            error: self.error,
            schema: self.schema.get(schema..).unwrap_or_default(),
            instance: self.instance.get(instance..).unwrap_or_default(),
        }
    }
}

fn segments(path: &str) -> Vec<String> {
    let segments = path.split('/').skip(1);
    segments
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// An error, and its paths from the schema and the instance that are looked at.
#[derive(Clone, Copy)]
struct Fault<'f, 'e> {
    error: &'f ValidationError<'e>,
    schema: &'f [String],
    instance: &'f [String],
}

/// Which schema within another a fault is about, and which part of the instance.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step<'f> {
    schema: &'f [String],
    instance: &'f [String],
}

impl<'f, 'e> Fault<'f, 'e> {
    /// The step to the schema within, and the fault as seen from there. `None`: the fault is about this schema.
    fn step(&self) -> Option<(Step<'f>, Self)> {
        let has = |words: &[&str]| {
            let keyword = self.schema.first();
            keyword.is_some_and(|keyword| words.contains(&keyword.as_str()))
        };
        let length = if has(&WITH_NAMES) { 2 } else { 1 };
        if self.schema.len() <= length {
            return None;
        }
        let (schema, rest) = self.schema.split_at(length);
        let is_within = has(&WITHIN) && !self.instance.is_empty();
        let (instance, below) = self.instance.split_at(usize::from(is_within));
        let fault = Self {
            error: self.error,
            schema: rest,
            instance: below,
        };
        Some((Step { schema, instance }, fault))
    }
}

/// The lines of the faults of one schema. A value of another type, or another one than the only one, has no other fault.
fn lines(faults: &[Fault<'_, '_>]) -> Vec<Line> {
    let own = |is: fn(&Kind) -> bool| {
        let mut own = faults.iter().filter(|fault| fault.step().is_none());
        own.find(|fault| is(fault.error.kind()))
    };
    let of_type = own(|kind| matches!(kind, Kind::Type { .. }));
    let only = of_type.or_else(|| own(|kind| matches!(kind, Kind::Constant { .. })));
    if let Some(only) = only {
        return vec![leaf(only.error)];
    }
    let mut lines = Vec::new();
    let mut groups: Vec<(Step<'_>, Vec<Fault<'_, '_>>)> = Vec::new();
    let mut missing: Vec<&ValidationError<'_>> = Vec::new();
    for fault in faults {
        let Some((step, inner)) = fault.step() else {
            match fault.error.kind() {
                Kind::Required { .. } => missing.push(fault.error),
                _ => lines.push(leaf(fault.error)),
            }
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == step) {
            Some((_, faults)) => faults.push(inner),
            None => groups.push((step, vec![inner])),
        }
    }
    lines.extend(required(&missing));
    let (all_of, others): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|(step, _)| step.schema.first().is_some_and(|word| word == "allOf"));
    lines.extend(others.iter().filter_map(|(_, faults)| block(faults)));
    let causes: Vec<Line> = all_of
        .iter()
        .filter_map(|(_, faults)| block(faults))
        .collect();
    let at = common_path(causes.iter().map(|cause| cause.at.as_str()));
    if let Some(at) = at {
        let text = "'allOf' failed".to_owned();
        lines.push(Line { at, text, causes });
    }
    lines.sort_by(|a, b| (&a.at, &a.text).cmp(&(&b.at, &b.text)));
    lines
}

/// The faults of a schema within another: one line.
fn block(faults: &[Fault<'_, '_>]) -> Option<Line> {
    let mut causes = lines(faults);
    if causes.len() == 1 {
        return causes.pop();
    }
    let at = common_path(causes.iter().map(|cause| cause.at.as_str()))?;
    let text = "validation failed".to_owned();
    Some(Line { at, text, causes })
}

/// The longest path that all of these begin with.
fn common_path<'p>(mut paths: impl Iterator<Item = &'p str>) -> Option<String> {
    let mut common: Vec<&str> = paths.next()?.split('/').collect();
    for path in paths {
        let same = common
            .iter()
            .zip(path.split('/'))
            .take_while(|(a, b)| **a == *b);
        common.truncate(same.count());
    }
    Some(common.join("/"))
}

/// All properties that an object misses are one line.
fn required(missing: &[&ValidationError<'_>]) -> Vec<Line> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for error in missing {
        let Kind::Required { property } = error.kind() else {
            continue;
        };
        let (at, name) = (error.instance_path().to_string(), property.as_str());
        let name = quoted(name.unwrap_or_default());
        match lines.iter_mut().find(|(known, _)| *known == at) {
            Some((_, names)) => names.push(name),
            None => lines.push((at, vec![name])),
        }
    }
    let line = |(at, names): (String, Vec<String>)| {
        let what = if names.len() == 1 {
            "property"
        } else {
            "properties"
        };
        let text = format!("missing {what} {}", names.join(", "));
        let causes = Vec::new();
        Line { at, text, causes }
    };
    lines.into_iter().map(line).collect()
}

fn leaf(error: &ValidationError<'_>) -> Line {
    let branches = match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context.as_slice(),
        _ => &[],
    };
    let (schema, instance) = (
        segments(error.evaluation_path().as_str()).len(),
        segments(error.instance_path().as_str()).len(),
    );
    let causes = branches.iter().filter_map(|errors| {
        let faults: Vec<_> = errors.iter().map(Paths::new).collect();
        // The number of the branch follows the keyword.
        let faults = faults.iter().map(|paths| paths.fault(schema + 1, instance));
        block(&faults.collect::<Vec<_>>())
    });
    Line {
        at: error.instance_path().to_string(),
        text: text(error),
        causes: causes.collect(),
    }
}
