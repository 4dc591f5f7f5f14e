//! An index that is written as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Archive, Builder, IndexError};

/// Other fields are passed over without being kept.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    entries: BTreeMap<String, Option<Vec<Option<Entry>>>>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    version: String,
    #[serde(default)]
    urls: Vec<String>,
    #[serde(default)]
    digest: Option<String>,
}

pub fn read(text: &str, builder: &mut Builder) -> Result<(), IndexError> {
    let written: Written = serde_json::from_str(text).map_err(|error| IndexError::Syntax {
        line: error.line(),
        reason: error.to_string(),
    })?;
    builder.api_version(&written.api_version);
    for (chart, versions) in written.entries {
        for entry in versions.into_iter().flatten().flatten() {
            let archive = Archive {
                version: entry.version,
                url: entry.urls.into_iter().next().unwrap_or_default(),
                digest: entry.digest,
            };
            builder.add(&chart, archive)?;
        }
    }
    Ok(())
}
