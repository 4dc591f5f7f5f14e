//! The chart of a release: packed again from Helm's record, or the one that the user names.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::model::Import;
use common::registry::PACKED;
use common::registry::chart::About;
use common_chart::{File, archive};
use serde_json::{Map, Value};

use super::release::{Release, StoredFile};
use crate::bundle::chart;
use crate::client::session::Session;
use crate::error::{CommandError, Failure};

#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    #[error(
        "release {release} is of chart {chart} {version}, which has subcharts, and Helm does not keep those with a release; name the chart: --chart helm:REPOSITORY/{chart}:{version}, --chart oci://HOST/PATH/{chart}:{version}, or the path of its folder or archive"
    )]
    Subcharts {
        release: String,
        chart: String,
        version: String,
    },
    #[error("release {release} is of chart {wanted}, and {given} is {found}; name that chart")]
    Other {
        release: String,
        wanted: String,
        given: String,
        found: String,
    },
    #[error(
        "the chart of release {release} cannot be packed again: {reason}; name it with --chart"
    )]
    Unpackable { release: String, reason: String },
}

impl CommandError for ChartError {}

/// The type of the deployment's resource, and the file that it is, unless the manager fetches it.
pub struct ChartType {
    pub type_name: String,
    pub imports: Vec<Import>,
}

/// The chart that the record has.
pub fn stored(release: &Release) -> Result<ChartType, ChartError> {
    if has_subcharts(release) {
        return Err(ChartError::Subcharts {
            release: release.name.clone(),
            chart: release.chart_says("name").to_owned(),
            version: release.chart_says("version").to_owned(),
        });
    }
    let failed = |reason: String| ChartError::Unpackable {
        release: release.name.clone(),
        reason,
    };
    let files = files(release).map_err(failed)?;
    let packed = archive::pack(release.chart_says("name"), &files);
    let packed = packed.map_err(|error| failed(error.to_string()))?;
    let (name, version) = (release.chart_says("name"), release.chart_says("version"));
    let type_name = format!("{name}-{version}{PACKED}");
    Ok(ChartType {
        imports: vec![Import {
            name: type_name.clone(),
            path: Some(type_name.clone()),
            content: BASE64_STANDARD.encode(packed),
        }],
        type_name,
    })
}

/// A subchart shows in what the chart declares, or in what was rendered of it.
fn has_subcharts(release: &Release) -> bool {
    let declared = release.chart.metadata.get("dependencies");
    let declares = declared
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty());
    let within = format!("# Source: {}/charts/", release.chart_says("name"));
    declares
        || release
            .manifest
            .lines()
            .any(|line| line.starts_with(&within))
}

fn files(release: &Release) -> Result<Vec<File>, String> {
    let chart = &release.chart;
    let json =
        |map: &Map<String, Value>| serde_json::to_vec(map).map_err(|error| error.to_string());
    // JSON is YAML.
    let mut files = vec![
        File::new("Chart.yaml", json(&chart.metadata)?),
        File::new("values.yaml", json(&chart.values)?),
    ];
    if !chart.schema.is_empty() {
        files.push(File::new("values.schema.json", decoded(&chart.schema)?));
    }
    for StoredFile { name, data } in chart.templates.iter().chain(&chart.files) {
        files.push(File::new(name.as_str(), decoded(data)?));
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files.dedup_by(|a, b| a.name == b.name);
    Ok(files)
}

fn decoded(data: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD
        .decode(data)
        .map_err(|error| error.to_string())
}

/// The chart that the user names, if it is the one of the release.
pub async fn named(
    given: &str,
    release: &Release,
    session: &Session<'_, '_>,
) -> Result<ChartType, Failure> {
    let wanted = format!(
        "{} {}",
        release.chart_says("name"),
        release.chart_says("version")
    );
    let (found, chart) = match Path::new(given).exists() {
        true => local(given)?,
        false => {
            let described = session.client.describe(given).await?;
            let version = described.resolved.version.unwrap_or_default();
            let chart = ChartType {
                type_name: given.to_owned(),
                imports: Vec::new(),
            };
            // The reference names the chart.
            let name = release.chart_says("name");
            (format!("{name} {}", version.trim_start_matches('v')), chart)
        }
    };
    if found != wanted && found != wanted.replace(" v", " ") {
        return Err(ChartError::Other {
            release: release.name.clone(),
            wanted,
            given: given.to_owned(),
            found,
        }
        .into());
    }
    Ok(chart)
}

/// A folder or an archive.
fn local(given: &str) -> Result<(String, ChartType), Failure> {
    let unreadable = |reason: String| Failure::failed(format!("{given}: {reason}"));
    let content = chart::read(Path::new(given)).map_err(|error| unreadable(error.to_string()))?;
    let packed = BASE64_STANDARD.decode(&content);
    let packed = packed.map_err(|error| unreadable(error.to_string()))?;
    let about = About::read(&packed).map_err(|error| unreadable(error.to_string()))?;
    let type_name = format!("{}-{}{PACKED}", about.name, about.version);
    let import = Import {
        name: type_name.clone(),
        path: Some(type_name.clone()),
        content,
    };
    let chart = ChartType {
        type_name,
        imports: vec![import],
    };
    Ok((format!("{} {}", about.name, about.version), chart))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn release(metadata: Value, manifest: &str) -> Release {
        let data = |text: &str| BASE64_STANDARD.encode(text);
        serde_json::from_value(
            json!({"name": "site", "version": 1, "manifest": manifest, "chart": {
                "metadata": metadata,
                "values": {"a": 1},
                "schema": data("{}"),
                "templates": [{"name": "templates/a.yaml", "data": data("kind: {{ .Values.a }}")}],
                "files": [{"name": "README.md", "data": data("# Web")}],
            }}),
        )
        .unwrap()
    }

    #[test]
    fn a_chart_is_packed_again_from_the_record() {
        let metadata = json!({"apiVersion": "v2", "name": "web", "version": "1.2.3"});
        let chart = stored(&release(metadata, "---\n# Source: web/templates/a.yaml\n")).unwrap();
        assert_eq!(chart.type_name, "web-1.2.3.tgz");
        let packed = BASE64_STANDARD.decode(&chart.imports[0].content).unwrap();
        let about = About::read(&packed).unwrap();
        assert_eq!(
            (about.name.as_str(), about.version.as_str()),
            ("web", "1.2.3")
        );
        assert_eq!(about.schema["properties"]["a"]["default"], 1);
        let files = archive::read(&packed, &mut archive::Room::default()).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        let expected = [
            "Chart.yaml",
            "README.md",
            "templates/a.yaml",
            "values.schema.json",
            "values.yaml",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_chart_with_subcharts_must_be_named() {
        let plain = json!({"name": "web", "version": "1.2.3"});
        let declares = json!({"name": "web", "version": "1.2.3", "dependencies": [{"name": "db"}]});
        for release in [
            release(declares, ""),
            release(plain, "---\n# Source: web/charts/db/templates/a.yaml\n"),
        ] {
            let error = stored(&release).err().unwrap().to_string();
            assert!(
                error.contains("--chart helm:REPOSITORY/web:1.2.3"),
                "{error}"
            );
        }
    }
}
