//! References of templates as users write them: `[anything/]TEMPLATE:VERSION`, or `template:NAMESPACE/NAME` of a stored Template object.

use crate::error::Failure;

/// `[anything/]template:version`, or `template:namespace/name`. A path with a colon must begin with `./` or `/`.
pub fn is_reference(target: &str) -> bool {
    if target.starts_with(['.', '/']) {
        return false;
    }
    if let Some((namespace, name)) = stored(target) {
        return !namespace.is_empty() && !name.is_empty();
    }
    let last = target.rsplit('/').next().unwrap_or_default();
    last.split_once(':')
        .is_some_and(|(template, version)| !template.is_empty() && !version.is_empty())
}

/// The namespace and the name of a stored Template object.
fn stored(target: &str) -> Option<(&str, &str)> {
    target.strip_prefix("template:")?.split_once('/')
}

/// The type for the configuration: the target, or its full reference in the given registry.
pub fn qualified(target: &str, registry: Option<&str>) -> Result<String, Failure> {
    let Some(registry) = registry else {
        return Ok(target.to_owned());
    };
    if target.contains('/') {
        let reason =
            "--registry is for TEMPLATE:VERSION; this reference already names its registry";
        return Err(Failure::usage(reason.to_owned()));
    }
    let path = registry.strip_prefix("github.com/").unwrap_or(registry);
    let segments: Vec<_> = path.split('/').collect();
    if segments.len() > 3 || segments.iter().any(|segment| segment.is_empty()) {
        return Err(Failure::usage(format!(
            "--registry {registry:?} is not valid: write ORG/REPO, ORG/REPO/COLLECTION, or a name from dm registries"
        )));
    }
    match segments[..] {
        [registered] => Ok(format!("{registered}/{target}")),
        _ => Ok(format!("github.com/{path}/{target}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_told_from_a_file() {
        for reference in [
            "t:v1",
            "github.com/o/r/t:v1",
            "charts/t:1.2",
            "template:v1",
            "template:shop/web",
        ] {
            assert!(is_reference(reference), "{reference}");
        }
        for file in [
            "web.yaml",
            "./t:v1",
            "/tmp/t:v1",
            "a:b/web.yaml",
            "t:",
            ":v1",
            "template:shop/",
        ] {
            assert!(!is_reference(file), "{file}");
        }
    }

    #[test]
    fn a_registry_makes_a_short_reference_a_full_one() {
        assert_eq!(qualified("t:v1", None).unwrap(), "t:v1");
        assert_eq!(
            qualified("t:v1", Some("o/r")).unwrap(),
            "github.com/o/r/t:v1"
        );
        assert_eq!(
            qualified("t:v1", Some("github.com/o/r/c")).unwrap(),
            "github.com/o/r/c/t:v1"
        );
        assert_eq!(qualified("t:v1", Some("own")).unwrap(), "own/t:v1");
        for bad in ["", "o/", "o/r/c/d"] {
            assert!(qualified("t:v1", Some(bad)).is_err(), "{bad}");
        }
        assert!(qualified("github.com/o/r/t:v1", Some("o/r")).is_err());
    }
}
