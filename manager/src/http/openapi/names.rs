//! The names of operations and their groups. Generated clients name methods and modules after them, so they are short and stay.

use super::Route;

/// Operations whose names do not follow from the handler.
const NAMES: &[(&str, &str, &str)] = &[
    ("expand", "post", "expand"),
    ("export", "get", "exportTemplate"),
    ("export", "post", "exportObjects"),
    ("events", "get", "watchOperation"),
    ("many", "get", "watchOperations"),
    ("activity", "events", "listEvents"),
    ("activity", "logs", "readLogs"),
    ("live", "resources", "listResources"),
    ("live", "graph", "getGraph"),
    ("previews", "diff", "diffDeployment"),
    ("operations", "stop", "stopDeployment"),
    ("registries", "templates", "listRegistryTemplates"),
    ("registries", "template", "getRegistryTemplate"),
    ("registries", "download", "downloadFile"),
    ("manifests", "layout", "getLayout"),
    ("stored_templates", "list", "listTemplates"),
    ("stored_templates", "create", "createTemplate"),
    ("stored_templates", "get", "getTemplate"),
    ("stored_templates", "replace", "replaceTemplate"),
    ("stored_templates", "patch", "patchTemplate"),
    ("stored_templates", "delete", "deleteTemplate"),
    ("stored_templates", "process", "processTemplate"),
    (
        "stored_templates",
        "process_stored",
        "processStoredTemplate",
    ),
    ("types", "instances", "listInstances"),
    ("types", "metadata", "getTypeMetadata"),
    ("types", "registry", "getTypeRegistry"),
    ("templates", "whatif", "whatIf"),
    ("readiness", "get", "getReadiness"),
    ("metrics", "get", "getMetrics"),
    ("admin", "backup", "backUpStore"),
    ("admin", "restore", "restoreStore"),
    ("admin", "verify", "verifyStore"),
    ("admin", "rotate", "rotateKey"),
    ("admin", "formats", "getStoreFormats"),
    ("admin", "upgrade", "upgradeStore"),
    ("openapi", "get", "getOpenApi"),
    ("whoami", "get", "whoami"),
];

/// The paths under which a handler is found once more, and what that adds to the names of its operations.
const AGAIN: &[(&str, &str)] = &[
    ("/api/v1/", "Kubernetes"),
    ("/apis/template.openshift.io/v1/", "OpenShift"),
];

/// For example `listDeployments`, `getManifest`, `rollbackDeployment`, `listTemplatesKubernetes`.
pub fn operation_id(route: &Route) -> String {
    let again = AGAIN.iter().find(|(path, _)| route.path.starts_with(path));
    own_id(route) + again.map_or("", |(_, suffix)| suffix)
}

fn own_id(route: &Route) -> String {
    let (noun, verb) = route.handler;
    let own = NAMES
        .iter()
        .find(|(of, does, _)| (*of, *does) == (noun, verb));
    if let Some((_, _, name)) = own {
        return (*name).to_owned();
    }
    match verb {
        "list" => format!("list{}", capital(noun)),
        verb => format!("{verb}{}", capital(&singular(noun))),
    }
}

/// The first part of the path.
pub fn tag(route: &Route) -> &'static str {
    let first = route.path.trim_start_matches('/').split('/').next();
    match first.unwrap_or_default() {
        "healthz" | "readyz" | "metrics" | "openapi.json" | "whoami" => "service",
        "api" | "apis" | "processedtemplates" => "templates",
        part => part,
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn singular(noun: &str) -> String {
    match noun.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => noun.strip_suffix('s').unwrap_or(noun).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::ROUTES;

    #[test]
    fn each_operation_has_a_short_name_of_its_own() {
        let names: Vec<String> = ROUTES.iter().map(operation_id).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
        for expected in [
            "listDeployments",
            "getDeployment",
            "createDeployment",
            "updateDeployment",
            "deleteDeployment",
            "rollbackDeployment",
            "listRegistries",
            "getRegistry",
            "getOperation",
            "cancelOperation",
            "getPreview",
        ] {
            assert!(names.iter().any(|name| name == expected), "{expected}");
        }
    }

    #[test]
    fn every_name_of_the_table_is_of_a_route() {
        for (noun, verb, name) in NAMES {
            let has = |route: &Route| route.handler == (*noun, *verb);
            assert!(ROUTES.iter().any(has), "{name}");
        }
    }
}
