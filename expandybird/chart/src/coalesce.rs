//! One set of values from those of the user and those of the charts, as Helm 4 makes it.
//!
//! The maps are Go's: a map of the result may be the map of another chart, and templates see when it changes.

use expandybird_gotemplate::value::{Map, Value};

use crate::error::ChartError;
use crate::node::Node;
use crate::values::{GLOBAL, copy, joined, remove_nulls, shallow_copy, table};

/// What happens to nulls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A null of the user removes the chart's value, and a null of the chart is left out.
    Remove,
    /// They stay, for a later merge.
    Keep,
}

/// Merges values; what cannot be merged becomes a warning.
pub struct Coalescer<'w> {
    pub nulls: Nulls,
    pub warnings: &'w mut Vec<String>,
}

impl Coalescer<'_> {
    /// The user's values over the defaults of a chart and of its subcharts. The user's map stays as it is.
    pub fn coalesce(&mut self, node: &Node<'_>, user: &Map) -> Result<Map, ChartError> {
        let values = copy(user);
        self.chart(node, &values, "")?;
        Ok(values)
    }

    fn chart(&mut self, node: &Node<'_>, values: &Map, prefix: &str) -> Result<(), ChartError> {
        self.defaults(node, values, prefix);
        let prefix = joined(prefix, &node.name.as_str().into());
        for subchart in &node.subcharts {
            let key = subchart.name.as_bytes();
            let inner = match values.get(key) {
                None => Map::default(),
                Some(Value::Map(inner)) => inner,
                Some(_) => {
                    return Err(ChartError::Values(format!(
                        "type mismatch on {}: the values of a subchart are a map",
                        subchart.name
                    )));
                }
            };
            values.insert(key, inner.clone().into());
            self.globals(&inner, values, &prefix);
            self.chart(subchart, &inner, &prefix)?;
        }
        Ok(())
    }

    /// The chart's own defaults, below the values.
    fn defaults(&mut self, node: &Node<'_>, values: &Map, prefix: &str) {
        let prefix = joined(prefix, &node.name.as_str().into());
        for (key, default) in node.defaults().entries() {
            match (values.get(&key), default) {
                (None, Value::Nil) if self.nulls == Nulls::Remove => {}
                (None, default) => {
                    if let (Value::Map(map), Nulls::Remove) = (&default, self.nulls) {
                        remove_nulls(map);
                    }
                    values.insert(key, default);
                }
                (Some(Value::Nil), _) if self.nulls == Nulls::Remove => {
                    values.remove(&key);
                }
                (Some(Value::Map(value)), Value::Map(default)) => {
                    let nulls = match node.has_subchart(&key) {
                        true => Nulls::Keep,
                        false => self.nulls,
                    };
                    if nulls == Nulls::Remove {
                        remove_nulls(&default);
                    }
                    self.tables(&value, &default, &joined(&prefix, &key), nulls);
                }
                (Some(Value::Map(_)), default) if !matches!(default, Value::Nil) => {
                    let path = joined(&prefix, &key);
                    self.warn(format!("skipped value for {path}: Not a table."));
                }
                (Some(_), _) => {}
            }
        }
    }

    /// The parent's globals over those of a subchart. Each has a map of its own, but they share the maps within.
    fn globals(&mut self, values: &Map, parent: &Map, prefix: &str) {
        let (Some(own), Some(given)) = (globals_of(values), globals_of(parent)) else {
            self.warn("skipping globals because global is not a table.".to_owned());
            return;
        };
        for (key, value) in given.entries() {
            match (value, own.get(&key)) {
                (Value::Map(given), Some(Value::Map(own_table))) => {
                    let merged = shallow_copy(&given);
                    self.tables(&merged, &own_table, &joined(prefix, &key), Nulls::Keep);
                    own.insert(key, merged.into());
                }
                (Value::Map(given), None) => own.insert(key, shallow_copy(&given).into()),
                (Value::Map(_), Some(_)) => {
                    let key = key.to_str();
                    self.warn(format!(
                        "cannot merge map onto non-map for {key:?}. Skipping."
                    ));
                }
                (_, Some(Value::Map(_))) => {
                    self.warn(format!("key {} is table. Skipping", key.to_str()));
                }
                (value, _) => own.insert(key, value),
            }
        }
        values.insert(GLOBAL, own.into());
    }

    /// Puts what `into` lacks into it. The recursion is as deep as the values.
    fn tables(&mut self, into: &Map, from: &Map, prefix: &str, nulls: Nulls) {
        let entries = from.entries();
        for (key, value) in entries {
            let path = joined(prefix, &key);
            match (into.get(&key), value) {
                (Some(Value::Nil), value) => {
                    if nulls == Nulls::Remove && !matches!(value, Value::Nil) {
                        into.remove(&key);
                    }
                }
                (None, value) => into.insert(key, value),
                (Some(Value::Map(into)), Value::Map(from)) => {
                    self.tables(&into, &from, &path, nulls);
                }
                (Some(_), Value::Map(_)) => {
                    self.warn(format!("cannot overwrite table with non table for {path}"));
                }
                (Some(Value::Map(_)), value) if !matches!(value, Value::Nil) => {
                    self.warn(format!(
                        "destination for {path} is a table. Ignoring non-table value"
                    ));
                }
                (Some(_), _) => {}
            }
        }
    }

    /// A table below another.
    pub fn merge_tables(&mut self, into: &Map, from: &Map) {
        self.tables(into, from, "", self.nulls);
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// The globals of values; none are an empty map. `None`: they are no map.
fn globals_of(values: &Map) -> Option<Map> {
    match values.contains_key(GLOBAL) {
        true => table(values, GLOBAL),
        false => Some(Map::default()),
    }
}
