//! The release that a chart is rendered for.

use crate::error::ChartError;

/// Bytes of the longest release name: what is appended to it must still be a name.
const NAME_BYTES: usize = 53;

/// `.Release`
#[derive(Clone, Debug)]
pub struct Release {
    /// The name: at most 53 characters.
    pub name: String,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// 1 for the first installation.
    pub revision: i64,
    /// Whether it was installed before.
    pub is_upgrade: bool,
}

impl Release {
    /// A first installation.
    pub fn install(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            namespace: namespace.into(),
            revision: 1,
            is_upgrade: false,
        }
    }

    /// Helm's rule for names.
    pub(crate) fn check(&self) -> Result<(), ChartError> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_part = |part: &str| {
            part.starts_with(is_plain)
                && part.ends_with(is_plain)
                && part.chars().all(|c| is_plain(c) || c == '-')
        };
        match self.name.len() <= NAME_BYTES && self.name.split('.').all(is_part) {
            true => Ok(()),
            false => Err(ChartError::Values(format!(
                "invalid release name {:?}, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53",
                self.name
            ))),
        }
    }
}
