//! YAML as `toYaml` prints it, byte for byte: the rules of Go's `sigs.k8s.io/yaml` over `go-yaml` 2.
//!
//! A value is seen as its JSON first: bytes are base 64, whole floats are integers. [`style`] decides how a text is quoted,
//! [`plain`] which texts would be read as something else, [`order`] how keys are sorted, and [`emit`] writes lines.
//!
//! Not a published crate: none quotes, sorts and folds as this one emitter does, and charts depend on each byte.

mod emit;
mod order;
mod plain;
mod style;

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::value::Value;

use crate::json::EncodeError;

/// How a document is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As `toYaml`: lists within maps are not indented, and long texts go on in the next line.
    Compact,
    /// As `toYamlPretty`, which is `go-yaml` 3 with an indent of two: neither of both.
    Pretty,
}

/// The document, without the final line end.
///
/// # Errors
/// The value has no JSON, or the budget ended.
pub fn to_yaml(budget: &mut Budget, value: &Value, layout: Layout) -> Result<Vec<u8>, EncodeError> {
    let mut out = emit::document(budget, value, layout)?;
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    Ok(out)
}
