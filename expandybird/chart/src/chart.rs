//! Reading a chart: which file is what.

use std::collections::BTreeMap;

use common_chart::File;
use common_chart::archive::{self, Room};
use serde_json::{Map, Value};

use crate::error::ChartError;
use crate::metadata::Metadata;
use crate::parsed::Parsed;
use crate::{ignore, yaml};

/// Charts within charts.
const MAX_DEPTH: usize = 16;

/// A chart with its subcharts. It does not change when it is rendered.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What it says about itself.
    pub metadata: Metadata,
    /// The defaults of its values.
    pub values: Map<String, Value>,
    /// `values.schema.json`
    pub schema: Option<Vec<u8>>,
    /// The files in `templates/`, sorted by their paths.
    pub templates: Vec<File>,
    /// All other files, sorted by their paths.
    pub files: Vec<File>,
    /// The charts in `charts/`, sorted by the names of their folders or archives.
    pub subcharts: Vec<Chart>,
    /// The templates of the last render.
    pub(crate) parsed: Parsed,
}

impl Chart {
    /// Reads a `.tgz`. Its own `.helmignore` counts, as it does when Helm packs a chart.
    ///
    /// # Errors
    /// The archive or the chart is wrong, or too large.
    pub fn from_archive(archive: &[u8]) -> Result<Self, ChartError> {
        let mut room = Room::default();
        let files = ignore::kept(archive::read(archive, &mut room)?)?;
        Self::read(files, &mut room, MAX_DEPTH)
    }

    /// Reads the files of a folder, by their paths in it. Those that `.helmignore` names are left out.
    ///
    /// # Errors
    /// The chart or its `.helmignore` is wrong, or too large.
    pub fn from_folder(files: Vec<File>) -> Result<Self, ChartError> {
        Self::from_files(ignore::kept(files)?)
    }

    /// Reads files by their paths in the chart.
    ///
    /// # Errors
    /// The chart is wrong, or too large.
    pub fn from_files(files: Vec<File>) -> Result<Self, ChartError> {
        let mut room = Room::default();
        for file in &files {
            room.take(file.data.len())?;
        }
        Self::read(files, &mut room, MAX_DEPTH)
    }

    /// The text of a template, by its full path: `web/charts/db/templates/a.yaml`. Aliases are not known here.
    #[must_use]
    pub fn source(&self, path: &str) -> Option<&[u8]> {
        let own = path.strip_prefix(self.name())?.strip_prefix('/')?;
        let template = self.templates.iter().find(|file| file.name == own);
        template.map(|file| file.data.as_slice()).or_else(|| {
            let inner = own.strip_prefix("charts/")?;
            self.subcharts.iter().find_map(|chart| chart.source(inner))
        })
    }

    /// How much memory it takes, about: a parsed template takes some twenty times its text.
    #[must_use]
    pub fn bytes(&self) -> usize {
        const PARSED: usize = 20;
        let sum = |files: &[File]| files.iter().map(|file| file.data.len()).sum::<usize>();
        let below = self.subcharts.iter().map(Self::bytes).sum::<usize>();
        sum(&self.files) + PARSED * sum(&self.templates) + below
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    fn read(files: Vec<File>, room: &mut Room, depth: usize) -> Result<Self, ChartError> {
        let mut chart = Self::default();
        let mut inner: BTreeMap<String, Vec<File>> = BTreeMap::new();
        if !chart.read_metadata(&files)? {
            return Err(ChartError::Chart("Chart.yaml file is missing".to_owned()));
        }
        for file in files {
            if let Some(file) = chart.place(file)? {
                let folder = file.name.split('/').next().unwrap_or_default().to_owned();
                inner.entry(folder).or_default().push(file);
            }
        }
        chart.metadata.check().map_err(ChartError::Chart)?;
        chart.templates.sort_by(|a, b| a.name.cmp(&b.name));
        chart.files.sort_by(|a, b| a.name.cmp(&b.name));
        for (name, files) in inner {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let subchart = subchart(&name, files, room, depth);
            let subchart = subchart.map_err(|error| error.within(&name, chart.name()))?;
            chart.subcharts.push(subchart);
        }
        Ok(chart)
    }

    /// Whether there is a `Chart.yaml`.
    fn read_metadata(&mut self, files: &[File]) -> Result<bool, ChartError> {
        let mut is_there = false;
        for file in files.iter().filter(|file| file.name == "Chart.yaml") {
            self.add_metadata(file)?;
            is_there = true;
        }
        Ok(is_there)
    }

    fn add_metadata(&mut self, file: &File) -> Result<(), ChartError> {
        let document = yaml::read(&file.data).map_err(|error| error.to_string());
        let read = document.and_then(|document| self.metadata.read(&document));
        read.map_err(|reason| ChartError::Chart(format!("cannot load {}: {reason}", file.name)))
    }

    /// Puts a file where it belongs. A file of a subchart comes back, without `charts/`.
    fn place(&mut self, file: File) -> Result<Option<File>, ChartError> {
        match file.name.as_str() {
            "Chart.yaml" | "Chart.lock" => {}
            "values.yaml" => {
                self.values = read_values(&file.data).map_err(|reason| {
                    ChartError::Chart(format!("cannot load values.yaml: {reason}"))
                })?;
            }
            "values.schema.json" => self.schema = Some(file.data),
            "requirements.yaml" | "requirements.lock" => {
                if file.name == "requirements.yaml" {
                    self.add_metadata(&file)?;
                }
                if matches!(self.metadata.api_version.as_str(), "" | "v1") {
                    self.files.push(file);
                }
            }
            name if name.starts_with("templates/") => self.templates.push(file),
            name => match name.strip_prefix("charts/") {
                Some(inner) if !name.ends_with(".prov") => {
                    let name = inner.to_owned();
                    return Ok(Some(File { name, ..file }));
                }
                _ => self.files.push(file),
            },
        }
        Ok(None)
    }
}

/// A subchart, by the name of its folder or archive.
fn subchart(
    name: &str,
    files: Vec<File>,
    room: &mut Room,
    depth: usize,
) -> Result<Chart, ChartError> {
    let depth = depth.checked_sub(1).ok_or_else(|| {
        ChartError::Chart(format!("charts are nested deeper than {MAX_DEPTH} levels"))
    })?;
    if name.ends_with(".tgz") {
        let [file] = files.as_slice() else {
            return Err(ChartError::Chart(format!("{name} is not a file")));
        };
        let files = archive::read(&file.data, room)?;
        return Chart::read(files, room, depth);
    }
    let within = files.into_iter().filter_map(|file| {
        let (_, path) = file.name.split_once('/')?;
        let name = path.to_owned();
        Some(File { name, ..file })
    });
    Chart::read(within.collect(), room, depth)
}

/// The documents of a `values.yaml`, one over the other.
fn read_values(data: &[u8]) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    for document in documents(data) {
        let read = yaml::read(&document).map_err(|error| error.to_string());
        match read.map_err(|reason| format!("cannot unmarshal yaml document: {reason}"))? {
            Value::Null => {}
            Value::Object(map) => merge(&mut values, map),
            other => {
                let kind = yaml::kind(&other);
                return Err(format!(
                    "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
                ));
            }
        }
    }
    Ok(values)
}

/// The documents of a text: they begin at lines of `---`, which only white space and a comment may follow.
fn documents(data: &[u8]) -> Vec<Vec<u8>> {
    let mut documents = vec![Vec::new()];
    for line in data.split_inclusive(|&byte| byte == b'\n') {
        let after = line.strip_prefix(b"---").map(<[u8]>::trim_ascii);
        let separates = after.is_some_and(|after| after.is_empty() || after.starts_with(b"#"));
        match documents.last_mut() {
            Some(last) if !separates || last.is_empty() => last.extend_from_slice(line),
            _ => documents.push(Vec::new()),
        }
    }
    documents
}

/// The recursion is as deep as the YAML, whose depth is limited.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(into)), Value::Object(from)) => merge(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
