//! What templates see: `.Values`, `.Chart`, `.Release`, `.Files`, `.Capabilities`, `.Subcharts`, `.Template`.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, MapClass, Type, Value};
use expandybird_sprig::yaml::{self, Layout};
use serde_json::Value as Json;

use crate::metadata::{Dependency, Maintainer};
use crate::node::Node;
use crate::release::Release;
use crate::values::{scalar_at, table, table_at};
use crate::{capabilities::Capabilities, files};

/// Helm's map of values, with its methods.
pub static VALUES: MapClass = MapClass {
    type_name: "common.Values",
    methods: &[
        Function::new("AsMap", &[], |call| {
            Ok(receiver(call)?.without_class().into())
        }),
        Function::new("YAML", &[], |call| {
            let map = receiver(call)?.without_class().into();
            let mut text = yaml::to_yaml(call.budget(), &map, Layout::Compact)?;
            text.push(b'\n');
            Ok(Value::string(text))
        }),
        Function::new("Table", &[Type::String], |call| {
            let path = call.string(0)?.to_str();
            match table_at(&receiver(call)?, &path) {
                Some(table) => Ok(table.with_class(&VALUES).into()),
                None => Err(Failure::new(format!("{path:?} is not a table"))),
            }
        }),
        Function::new("PathValue", &[Type::String], |call| {
            let path = call.string(0)?.to_str();
            let key = path.rsplit('.').next().unwrap_or_default();
            scalar_at(&receiver(call)?, &path)
                .ok_or_else(|| Failure::new(format!("{key:?} is not a value")))
        }),
    ],
};

fn receiver(call: &Call<'_>) -> Result<Map, Failure> {
    match call.receiver() {
        Value::Map(map) => Ok(map.clone()),
        _ => Err(Failure::new("the values are not a map")),
    }
}

/// What all charts of a render see alike.
pub struct Shared {
    pub release: Value,
    pub capabilities: Value,
}

impl Shared {
    pub fn new(release: &Release, capabilities: &Capabilities) -> Self {
        let entries: [(&str, Value); 6] = [
            ("Name", release.name.as_str().into()),
            ("Namespace", release.namespace.as_str().into()),
            ("Revision", Value::int(release.revision)),
            ("IsInstall", (!release.is_upgrade).into()),
            ("IsUpgrade", release.is_upgrade.into()),
            ("Service", "Helm".into()),
        ];
        Self {
            release: map(entries).into(),
            capabilities: capabilities.value(),
        }
    }
}

/// The context of a chart. Those of its subcharts are within it; `visit` gets each of them, the innermost ones first.
pub fn context<'c>(
    node: &Node<'c>,
    path: &str,
    values: Map,
    shared: &Shared,
    visit: &mut dyn FnMut(&Node<'c>, &str, &Map),
) -> Map {
    let is_root = !path.contains('/');
    let subcharts = Map::default();
    for subchart in &node.subcharts {
        let values = table(&values, subchart.name.as_bytes()).unwrap_or_default();
        let path = format!("{path}/charts/{}", subchart.name);
        let inner = context(subchart, &path, values, shared, visit);
        subcharts.insert(subchart.name.as_str(), inner.into());
    }
    let context = map([
        ("Chart", metadata(node, is_root)),
        ("Files", files::value(&node.chart.files)),
        ("Release", shared.release.clone()),
        ("Capabilities", shared.capabilities.clone()),
        ("Values", values.with_class(&VALUES).into()),
        ("Subcharts", subcharts.into()),
    ]);
    visit(node, path, &context);
    context
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (GoString::from(key), value))
        .collect()
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    List::any(values.collect()).into()
}

fn texts(texts: &[String]) -> Value {
    list(texts.iter().map(|text| text.as_str().into()))
}

/// `.Chart`: a map with the names of Go's fields.
fn metadata(node: &Node<'_>, is_root: bool) -> Value {
    let it = &node.chart.metadata;
    let annotations = match &it.annotations {
        None => Map::nil(Type::String),
        Some(annotations) => {
            let map = Map::new(Type::String);
            for (key, text) in annotations {
                map.insert(key.as_str(), text.as_str().into());
            }
            map
        }
    };
    let dependencies = node.dependencies.iter().flatten();
    let text = |text: &str| Value::from(text);
    map([
        ("APIVersion", text(&it.api_version)),
        ("Annotations", annotations.into()),
        ("AppVersion", text(&it.app_version)),
        ("Condition", text(&it.condition)),
        ("Dependencies", list(dependencies.map(dependency))),
        ("Deprecated", it.deprecated.into()),
        ("Description", text(&it.description)),
        ("Home", text(&it.home)),
        ("Icon", text(&it.icon)),
        ("IsRoot", is_root.into()),
        ("Keywords", texts(&it.keywords)),
        ("KubeVersion", text(&it.kube_version)),
        ("Maintainers", list(it.maintainers.iter().map(maintainer))),
        ("Name", text(&node.name)),
        ("Sources", texts(&it.sources)),
        ("Tags", text(&it.tags)),
        ("Type", text(&it.kind)),
        ("Version", text(&it.version)),
    ])
    .into()
}

fn maintainer(it: &Maintainer) -> Value {
    map([
        ("Name", it.name.as_str().into()),
        ("Email", it.email.as_str().into()),
        ("URL", it.url.as_str().into()),
    ])
    .into()
}

fn dependency(it: &Dependency) -> Value {
    let imports = it.import_values.iter().map(|import| {
        let entries = Map::new(Type::String);
        for (key, path) in import.as_object().into_iter().flatten() {
            entries.insert(key.as_str(), path.as_str().unwrap_or_default().into());
        }
        match import {
            Json::Object(_) => entries.into(),
            other => Value::from(other.as_str().unwrap_or_default()),
        }
    });
    map([
        ("Name", it.name.as_str().into()),
        ("Version", it.version.as_str().into()),
        ("Repository", it.repository.as_str().into()),
        ("Condition", it.condition.as_str().into()),
        ("Tags", texts(&it.tags)),
        ("Enabled", it.enabled.into()),
        ("ImportValues", list(imports)),
        ("Alias", it.alias.as_str().into()),
    ])
    .into()
}
