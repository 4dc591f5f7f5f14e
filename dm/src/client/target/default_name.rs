//! The name of a deployment that the user gives none.

use common::model::DeploymentName;

/// The name of a file or template, without folders, version and ending, as a valid deployment name.
pub fn default_name(of: &str) -> Option<DeploymentName> {
    let last = of.rsplit('/').next()?;
    let stem = last
        .split([':', '.', '?', '@'])
        .find(|part| !part.is_empty())?;
    let dashed: String = stem
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                c
            } else {
                '-'
            }
        })
        .take(63)
        .collect();
    DeploymentName::parse(dashed.trim_matches('-')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_is_named_after_its_file_or_template() {
        for (of, expected) in [
            ("web.yaml", Some("web")),
            ("dir/My_App.prod.yaml", Some("my-app")),
            ("replicatedservice:v1", Some("replicatedservice")),
            ("github.com/o/r/c/redis:v1.2", Some("redis")),
            ("https://host/path/t.py", Some("t")),
            ("oci://ghcr.io/org/chart:1.2.3", Some("chart")),
            ("helm:https://host/charts/web:>=1 <2", Some("web")),
            ("", None),
            ("___.yaml", None),
        ] {
            assert_eq!(
                default_name(of).map(String::from).as_deref(),
                expected,
                "{of}"
            );
        }
    }
}
