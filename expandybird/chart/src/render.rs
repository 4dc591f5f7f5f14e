//! One render of a chart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use common_chart::{File, archive};
use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::Limit;
use expandybird_gotemplate::value::{Map, Numbers, Value};
use expandybird_gotemplate::{Session, Set, execute};
use expandybird_sprig::made::Host;
use serde_json::Value as Json;

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::coalesce::{Coalescer, Nulls};
use crate::context::{Shared, VALUES, context};
use crate::dependencies::{check_present, enable, is_in_range};
use crate::error::ChartError;
use crate::functions::{Counters, without_no_value};
use crate::hook::Hook;
use crate::lookup::Lookups;
use crate::manifest::Manifest;
use crate::node::Node;
use crate::parsed::Parsed;
use crate::release::Release;
use crate::sort::sorted;
use crate::{definitions, imports, message, schema};

/// Templates whose names end so are for people.
const NOTES: &str = "NOTES.txt";
/// Templates of one chart, with its subcharts.
const TEMPLATES: usize = 2000;
/// Bytes of one template.
const TEMPLATE_BYTES: usize = 4 << 20;
/// What a render has around it.
#[derive(Default)]
pub struct Hosts {
    /// The source of time and chance. Without it, their functions fail.
    pub made: Option<Host>,
    /// What `lookup` finds. Without it, nothing.
    pub lookups: Option<Lookups>,
}

/// What a chart became.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// The objects, in the order in which Helm installs them.
    pub manifests: Vec<Manifest>,
    /// The hooks, in the order of their kinds.
    pub hooks: Vec<Hook>,
    /// The files in `crds/` of the chart and of its subcharts, by their full paths.
    pub crds: Vec<File>,
    /// What the chart says to its user.
    pub notes: String,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl Rendered {
    /// All texts, as `helm template --include-crds` prints them.
    pub fn text(&self) -> String {
        let part = |path: &str, text: &str| format!("---\n# Source: {path}\n{text}\n");
        let crds = self.crds.iter();
        let crds = crds.map(|file| part(&file.name, &String::from_utf8_lossy(&file.data)));
        let manifests = self.manifests.iter();
        let manifests = manifests.map(|manifest| part(&manifest.path, &manifest.text));
        let objects: String = crds.chain(manifests).collect();
        let hooks = self.hooks.iter().map(|hook| &hook.manifest);
        let hooks: String = hooks.map(|hook| part(&hook.path, &hook.text)).collect();
        format!("{}\n{hooks}", objects.trim())
    }
}

/// Renders a chart with the user's values. All numbers of the values are floats, as in Helm.
///
/// # Errors
/// The values do not fit, a template is wrong or fails, or a limit is met.
pub fn render(
    chart: &Chart,
    values: &Json,
    release: &Release,
    capabilities: &Capabilities,
    limits: Limits,
    hosts: Hosts,
) -> Result<Rendered, ChartError> {
    release.check()?;
    if chart.metadata.is_library() {
        return Err(ChartError::Chart(
            "library charts are not installable".to_owned(),
        ));
    }
    let mut warnings = Vec::new();
    let (node, values) = prepared(chart, values, &mut warnings)?;
    check_kube_version(chart, capabilities)?;
    let mut crds = Vec::new();
    add_crds(&node, chart.name(), &mut crds);
    let mut templates = Templates::default();
    let shared = Shared::new(release, &with_definitions(capabilities, &crds));
    context(
        &node,
        chart.name(),
        values,
        &shared,
        &mut |node, path, context| {
            templates.add(node, path, context);
        },
    );
    let mut outputs = templates.run(&chart.parsed, limits, hosts)?;
    let notes = take_notes(&mut outputs, chart.name());
    let sorted = sorted(&outputs)?;
    warnings.extend(sorted.warnings);
    Ok(Rendered {
        manifests: sorted.manifests,
        hooks: sorted.hooks,
        crds,
        notes,
        warnings,
    })
}

/// The charts that take part, and the values of all of them.
fn prepared<'c>(
    chart: &'c Chart,
    values: &Json,
    warnings: &mut Vec<String>,
) -> Result<(Node<'c>, Map), ChartError> {
    let user = match Value::from_json(values, Numbers::Floats) {
        Value::Nil => Map::default(),
        Value::Map(map) => map,
        _ => {
            return Err(ChartError::Values(
                "the values of a chart are a map".to_owned(),
            ));
        }
    };
    let mut node = Node::new(chart);
    check_present(&node)?;
    enable(&mut node, &user, "", warnings)?;
    imports::import(&mut node, warnings)?;
    let mut coalescer = Coalescer {
        nulls: Nulls::Remove,
        warnings,
    };
    let values = coalescer.coalesce(&node, &user)?;
    schema::check(&node, &values)?;
    Ok((node, values))
}

fn check_kube_version(chart: &Chart, capabilities: &Capabilities) -> Result<(), ChartError> {
    let wanted = &chart.metadata.kube_version;
    if wanted.is_empty() || is_in_range(wanted, &capabilities.plain_version()) {
        return Ok(());
    }
    Err(ChartError::Chart(format!(
        "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {}",
        capabilities.kube_version
    )))
}

fn with_definitions<'c>(capabilities: &'c Capabilities, crds: &[File]) -> Cow<'c, Capabilities> {
    if !capabilities.adds_definitions || crds.is_empty() {
        return Cow::Borrowed(capabilities);
    }
    let mut capabilities = capabilities.clone();
    capabilities.api_versions.extend(definitions::served(crds));
    Cow::Owned(capabilities)
}

/// A template with what it sees.
struct Template<'c> {
    text: &'c [u8],
    context: Map,
    folder: String,
}

/// The templates of all charts, by their full paths.
#[derive(Default)]
struct Templates<'c>(BTreeMap<String, Template<'c>>);

impl<'c> Templates<'c> {
    fn add(&mut self, node: &Node<'c>, path: &str, context: &Map) {
        let is_library = node.chart.metadata.is_library();
        for file in &node.chart.templates {
            if is_library && !is_partial(&file.name) {
                continue;
            }
            let name = archive::clean(&format!("{path}/{}", file.name));
            let template = Template {
                text: &file.data,
                context: context.clone(),
                folder: format!("{path}/templates"),
            };
            self.0.insert(name, template);
        }
    }

    /// The outputs of all templates but partials, by their paths. The deepest template comes first, so that what is
    /// above it can replace what it defines.
    fn run(
        &self,
        parsed: &Parsed,
        limits: Limits,
        hosts: Hosts,
    ) -> Result<BTreeMap<String, Vec<u8>>, ChartError> {
        self.check()?;
        let mut names: Vec<&String> = self.0.keys().collect();
        names.sort_by_key(|name| std::cmp::Reverse((name.matches('/').count(), *name)));
        let texts = names.iter().filter_map(|name| {
            let template = self.0.get(*name)?;
            Some((name.as_str(), template.text))
        });
        let texts: Vec<_> = texts.collect();
        let set = parsed.set(&texts);
        let set = set.map_err(|error| message::unparsed(&error))?;
        let most = limits.output_bytes;
        let mut session = Session::new(limits, Counters::default());
        if let Some(host) = hosts.made {
            session = session.with(host);
        }
        if let Some(lookups) = hosts.lookups {
            session = session.with(lookups);
        }
        let mut outputs = BTreeMap::new();
        let mut bytes = 0;
        for name in names.into_iter().filter(|name| !is_partial(name)) {
            let Some(template) = self.0.get(name) else {
                continue;
            };
            let output = template.run(&set, &mut session, name)?;
            bytes += output.len();
            if bytes > most {
                return Err(too_large(name, most));
            }
            outputs.insert(name.clone(), output);
        }
        Ok(outputs)
    }

    fn check(&self) -> Result<(), ChartError> {
        if self.0.len() > TEMPLATES {
            return Err(ChartError::Chart(format!(
                "the chart has more than {TEMPLATES} templates"
            )));
        }
        let mut templates = self.0.iter();
        match templates.find(|(_, template)| template.text.len() > TEMPLATE_BYTES) {
            None => Ok(()),
            Some((name, _)) => Err(ChartError::Chart(format!(
                "the template {name} is larger than {TEMPLATE_BYTES} bytes"
            ))),
        }
    }
}

impl Template<'_> {
    fn run(&self, set: &Set, session: &mut Session, name: &str) -> Result<Vec<u8>, ChartError> {
        let own = Map::default();
        own.insert("Name", name.into());
        own.insert("BasePath", self.folder.as_str().into());
        self.context
            .insert("Template", own.with_class(&VALUES).into());
        let data = self.context.clone().with_class(&VALUES).into();
        let output = execute(set, session, name, &data);
        let output = output.map_err(|error| message::failed(&error))?;
        Ok(without_no_value(&output))
    }
}

fn is_partial(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with('_'))
}

fn too_large(file: &str, most: usize) -> ChartError {
    let limit = Limit::Output(most);
    ChartError::Limit {
        message: limit.to_string(),
        limit,
        file: Some(file.to_owned()),
    }
}

/// The notes of the chart. Those of its subcharts are left out.
fn take_notes(outputs: &mut BTreeMap<String, Vec<u8>>, chart: &str) -> String {
    let own = outputs.get(&format!("{chart}/templates/{NOTES}"));
    let notes = own.map(|notes| String::from_utf8_lossy(notes).into_owned());
    outputs.retain(|name, _| !name.ends_with(NOTES));
    notes.unwrap_or_default()
}

fn add_crds(node: &Node<'_>, path: &str, crds: &mut Vec<File>) {
    const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];
    let is_crd = |file: &&File| {
        let lower = file.name.to_lowercase();
        file.name.starts_with("crds/") && ENDINGS.iter().any(|ending| lower.ends_with(ending))
    };
    let own = node.chart.files.iter().filter(is_crd);
    crds.extend(own.map(|file| File::new(format!("{path}/{}", file.name), file.data.clone())));
    for subchart in &node.subcharts {
        add_crds(subchart, &format!("{path}/charts/{}", subchart.name), crds);
    }
}
