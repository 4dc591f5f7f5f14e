//! Semantic versions and constraints, as the Go package `semver` 3.5 reads them.
//!
//! Not the crate `semver`: it has no `||`, no ranges with a hyphen, no versions of two numbers, and another rule for
//! prereleases.

mod constraint;
mod version;

pub use constraint::Constraint;
pub use version::Version;

use std::rc::Rc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, Object, ObjectKind, Type, Value};

/// The type of a version in Go.
const VERSION: Type = Type::Named("*semver.Version");

/// Functions of versions.
pub const FUNCTIONS: &[Function] = &[
    Function::new("semver", &[Type::String], |call| {
        Ok(value(parse(&call.string(0)?.to_str())?))
    }),
    Function::new("semverCompare", &[Type::String, Type::String], |call| {
        let constraint: Constraint = call.string(0)?.to_str().parse().map_err(Failure::new)?;
        let version = parse(&call.string(1)?.to_str())?;
        call.budget().spend(1)?;
        Ok(constraint.allows(&version).into())
    }),
];

fn parse(text: &str) -> Result<Version, Failure> {
    text.parse().map_err(Failure::new)
}

fn value(version: Version) -> Value {
    Value::Object(Rc::new(version))
}

impl Object for Version {
    fn type_name(&self) -> &str {
        "*semver.Version"
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::Pointer
    }

    fn methods(&self) -> &'static [Function] {
        METHODS
    }

    fn text(&self) -> Option<GoString> {
        Some(self.to_string().into())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

const METHODS: &[Function] = &[
    Function::new("Major", &[], |call| {
        Ok(Value::uint64(receiver(call)?.major))
    }),
    Function::new("Minor", &[], |call| {
        Ok(Value::uint64(receiver(call)?.minor))
    }),
    Function::new("Patch", &[], |call| {
        Ok(Value::uint64(receiver(call)?.patch))
    }),
    Function::new("Prerelease", &[], |call| {
        Ok(receiver(call)?.prerelease.as_str().into())
    }),
    Function::new("Metadata", &[], |call| {
        Ok(receiver(call)?.metadata.as_str().into())
    }),
    Function::new("Original", &[], |call| {
        Ok(receiver(call)?.original.as_str().into())
    }),
    Function::new("String", &[], |call| Ok(receiver(call)?.to_string().into())),
    Function::new("IncMajor", &[], |call| {
        Ok(value(receiver(call)?.next_major()))
    }),
    Function::new("IncMinor", &[], |call| {
        Ok(value(receiver(call)?.next_minor()))
    }),
    Function::new("IncPatch", &[], |call| {
        Ok(value(receiver(call)?.next_patch()))
    }),
    Function::new("Compare", &[VERSION], |call| {
        let order = receiver(call)?.precedence(call.object(0)?);
        Ok(Value::int(order as i64))
    }),
    Function::new("Equal", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(call.object(0)?).is_eq().into())
    }),
    Function::new("LessThan", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(call.object(0)?).is_lt().into())
    }),
    Function::new("LessThanEqual", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(call.object(0)?).is_le().into())
    }),
    Function::new("GreaterThan", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(call.object(0)?).is_gt().into())
    }),
    Function::new("GreaterThanEqual", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(call.object(0)?).is_ge().into())
    }),
];

fn receiver<'a>(call: &Call<'a>) -> Result<&'a Version, Failure> {
    let version = match call.receiver() {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    };
    version.ok_or_else(|| Failure::new("the receiver is no version"))
}
