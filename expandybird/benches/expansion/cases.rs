//! What is expanded.

use std::time::Duration;

use common::api::expander::ExpandRequest;
use common::model::Import;

const JINJA: &str = "\
resources:
- name: {{ env['name'] }}-disk
  type: compute.v1.disk
  properties:
    zone: {{ properties['zone'] }}
    sizeGb: {{ properties['size'] }}
- name: {{ env['name'] }}
  type: compute.v1.instance
  properties:
    zone: {{ properties['zone'] }}
    machineType: {{ 'zones/' + properties['zone'] + '/machineTypes/n1-standard-1' }}
    disks:
    - source: $(ref.{{ env['name'] }}-disk.selfLink)
{%- if properties['tags'] %}
    tags: {items: {{ properties['tags'] }}}
{%- endif %}
";

const PYTHON: &str = "\
def GenerateConfig(context):
    name = context.env['name']
    zone = context.properties['zone']
    disk = {'name': name + '-disk', 'type': 'compute.v1.disk',
            'properties': {'zone': zone, 'sizeGb': context.properties['size']}}
    vm = {'name': name, 'type': 'compute.v1.instance', 'properties': {
        'zone': zone,
        'machineType': 'zones/%s/machineTypes/n1-standard-1' % zone,
        'disks': [{'source': '$(ref.%s-disk.selfLink)' % name}],
        'tags': {'items': context.properties['tags']}}}
    return {'resources': [disk, vm]}
";

const SCHEMA: &str = "\
required: [zone]
properties:
  zone: {type: string, pattern: '^[a-z]+-[a-z]+[0-9]-[a-z]$'}
  size: {type: integer, default: 10, minimum: 1, maximum: 65536}
  tags: {type: array, items: {type: string}, default: [http, https]}
";

/// Template instances of the large cases; each has two resources.
const INSTANCES: usize = 1000;

pub struct Case {
    pub name: &'static str,
    pub request: ExpandRequest,
    /// Resources that come out.
    pub resources: usize,
    pub runs: usize,
    /// Fresh Python processes to compare with.
    pub processes: usize,
    /// What the median has to stay under.
    pub goal: Duration,
}

pub fn all() -> [Case; 4] {
    [
        small_jinja(),
        small_python(),
        many(
            "1,000 instances of a Jinja template with a schema",
            "vm.jinja",
            JINJA,
            45,
        ),
        many(
            "1,000 instances of a Python template with a schema",
            "vm.py",
            PYTHON,
            250,
        ),
    ]
}

pub fn small_jinja() -> Case {
    small("small Jinja template", "vm.jinja", JINJA, 350)
}

pub fn small_python() -> Case {
    small("small Python template", "vm.py", PYTHON, 2000)
}

fn small(name: &'static str, file: &str, source: &str, goal_us: u64) -> Case {
    let content = format!(
        "imports:\n- path: {file}\nresources:\n- name: one\n  type: {file}\n  properties: {{zone: us-east1-b, size: 20, tags: [http]}}\n"
    );
    Case {
        name,
        request: request(content, &[(file, source)]),
        resources: 2,
        runs: 1000,
        processes: 11,
        goal: Duration::from_micros(goal_us),
    }
}

fn many(name: &'static str, file: &str, source: &str, goal_ms: u64) -> Case {
    let resource = |n| {
        format!(
            "- name: vm-{n}\n  type: {file}\n  properties:\n    zone: us-east1-b\n    size: {}\n",
            n + 1
        )
    };
    let content = format!(
        "imports:\n- path: {file}\nresources:\n{}",
        (0..INSTANCES).map(resource).collect::<String>()
    );
    let schema = format!("{file}.schema");
    Case {
        name,
        request: request(content, &[(file, source), (&schema, SCHEMA)]),
        resources: 2 * INSTANCES,
        runs: 30,
        processes: 3,
        goal: Duration::from_millis(goal_ms),
    }
}

fn request(content: String, files: &[(&str, &str)]) -> ExpandRequest {
    let import = |&(name, content): &(&str, &str)| Import {
        name: name.to_owned(),
        path: None,
        content: content.to_owned(),
    };
    ExpandRequest {
        name: "bench".to_owned(),
        content,
        imports: files.iter().map(import).collect(),
        env: [("deployment".to_owned(), "bench".into())]
            .into_iter()
            .collect(),
        ..ExpandRequest::default()
    }
}
