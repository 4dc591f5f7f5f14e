//! A chart as one render uses it: under its alias, with the subcharts that are enabled.

use expandybird_gotemplate::value::{Map, Numbers, Value};

use crate::chart::Chart;
use crate::metadata::Dependency;
use crate::values::copy;

/// A chart in its place among the charts of a render.
#[derive(Clone, Debug)]
pub struct Node<'c> {
    pub chart: &'c Chart,
    /// The alias, or the chart's own name.
    pub name: String,
    /// The dependencies that are declared, with their aliases as names once they are processed.
    pub dependencies: Option<Vec<Dependency>>,
    /// The defaults, if values were imported into them.
    imported: Option<Map>,
    pub subcharts: Vec<Node<'c>>,
}

impl<'c> Node<'c> {
    pub fn new(chart: &'c Chart) -> Self {
        Self {
            chart,
            name: chart.name().to_owned(),
            dependencies: chart.metadata.dependencies.clone(),
            imported: None,
            subcharts: chart.subcharts.iter().map(Self::new).collect(),
        }
    }

    /// The defaults of the values. They are a copy: the caller may change them.
    pub fn defaults(&self) -> Map {
        if let Some(imported) = &self.imported {
            return copy(imported);
        }
        let values = self.chart.values.iter();
        let value = |value| Value::from_json(value, Numbers::Floats);
        values
            .map(|(key, json)| (key.as_str().into(), value(json)))
            .collect()
    }

    /// Replaces the defaults of the values.
    pub fn set_defaults(&mut self, values: Map) {
        self.imported = Some(values);
    }

    /// The same chart under another name.
    pub fn with_name(self, name: &str) -> Self {
        let name = name.to_owned();
        Self { name, ..self }
    }

    pub fn has_subchart(&self, name: &[u8]) -> bool {
        let mut subcharts = self.subcharts.iter();
        subcharts.any(|subchart| subchart.name.as_bytes() == name)
    }
}
