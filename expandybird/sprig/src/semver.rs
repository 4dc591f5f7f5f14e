//! Functions of versions and their constraints.

use std::rc::Rc;

use common_chart::semver::{Constraint, ConstraintError};
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::quoted;
use expandybird_gotemplate::value::{Call, Function, GoString, Object, ObjectKind, Type, Value};

/// A version as an object of templates.
#[derive(Debug, Default)]
pub struct Version(common_chart::semver::Version);

/// The type of a version in Go.
const VERSION: Type = Type::Named("*semver.Version");

/// Functions of versions.
pub const FUNCTIONS: &[Function] = &[
    Function::new("semver", &[Type::String], |call| {
        Ok(value(parse(&call.string(0)?.to_str())?))
    }),
    Function::new("semverCompare", &[Type::String, Type::String], |call| {
        let constraint: Constraint = constraint(&call.string(0)?.to_str())?;
        let version = parse(&call.string(1)?.to_str())?;
        call.budget().spend(1)?;
        Ok(constraint.allows(&version).into())
    }),
];

fn constraint(text: &str) -> Result<Constraint, Failure> {
    text.parse().map_err(|error| match error {
        ConstraintError::Improper(text) => {
            Failure::new(format!("improper constraint: {}", quoted(&text)))
        }
        other => Failure::new(other.to_string()),
    })
}

fn parse(text: &str) -> Result<common_chart::semver::Version, Failure> {
    text.parse().map_err(Failure::new)
}

fn value(version: common_chart::semver::Version) -> Value {
    Value::Object(Rc::new(Version(version)))
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
        Some(self.0.to_string().into())
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
        let order = receiver(call)?.precedence(other(call)?);
        Ok(Value::int(order as i64))
    }),
    Function::new("Equal", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(other(call)?).is_eq().into())
    }),
    Function::new("LessThan", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(other(call)?).is_lt().into())
    }),
    Function::new("LessThanEqual", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(other(call)?).is_le().into())
    }),
    Function::new("GreaterThan", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(other(call)?).is_gt().into())
    }),
    Function::new("GreaterThanEqual", &[VERSION], |call| {
        Ok(receiver(call)?.precedence(other(call)?).is_ge().into())
    }),
];

fn receiver<'a>(call: &Call<'a>) -> Result<&'a common_chart::semver::Version, Failure> {
    let version = match call.receiver() {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    };
    let version: &Version = version.ok_or_else(|| Failure::new("the receiver is not a version"))?;
    Ok(&version.0)
}

fn other<'a>(call: &Call<'a>) -> Result<&'a common_chart::semver::Version, Failure> {
    call.object::<Version>(0).map(|version| &version.0)
}
