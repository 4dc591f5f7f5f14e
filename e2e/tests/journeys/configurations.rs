//! Configurations that several journeys deploy.

/// One Deployment of pods that behave as `behaviour` says: `well`, `slow:3s`, `no-image`, ….
pub fn pods(name: &str, behaviour: &str, replicas: u32) -> String {
    format!(
        "resources:
- name: {name}
  type: Deployment
  properties:
    spec:
      replicas: {replicas}
      selector: {{matchLabels: {{app: {name}}}}}
      template:
        metadata: {{labels: {{app: {name}}}}}
        spec: {{containers: [{{name: main, image: 'simulated.invalid/{behaviour}'}}]}}
"
    )
}

/// Config maps by their names, each with this value.
pub fn maps(names: &[&str], value: &str) -> String {
    let map = |name: &&str| {
        format!("- {{name: {name}, type: ConfigMap, properties: {{data: {{value: '{value}'}}}}}}\n")
    };
    format!("resources:\n{}", names.iter().map(map).collect::<String>())
}

/// One config map with a policy of its own.
pub fn map_with(name: &str, value: &str, metadata: &str) -> String {
    format!(
        "resources:\n- {{name: {name}, type: ConfigMap, properties: {{data: {{value: '{value}'}}}}, metadata: {{{metadata}}}}}\n"
    )
}
