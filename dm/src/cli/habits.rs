//! Advice for users whose hands know another tool, when a command line of that tool means something else here or nothing.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// Commands of Helm, kubectl, kapp and gcloud that dm has under another name.
const COMMANDS: &[(&str, &str)] = &[
    ("create", "dm deploy"),
    ("describe-deployment", "dm get NAME"),
    ("explain", "dm describe TEMPLATE:VERSION"),
    ("inspect", "dm describe TEMPLATE:VERSION, or dm get NAME"),
    (
        "pull",
        "dm templates, and TEMPLATE:VERSION in the command that uses it",
    ),
    ("push", "dm publish"),
    ("repo", "dm registries"),
    (
        "rollout",
        "dm status NAME, dm history NAME or dm rollback NAME",
    ),
    ("search", "dm templates"),
    ("show", "dm describe TEMPLATE:VERSION"),
    ("undo", "dm rollback NAME"),
    ("values", "dm get NAME properties"),
];

/// What to do instead, if the command line looks like one of another tool.
pub fn advice(args: &[OsString], kind: ErrorKind) -> Option<String> {
    let words: Vec<&str> = args
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .collect();
    let (command, rest) = words.split_first()?;
    if kind == ErrorKind::InvalidSubcommand {
        let found = COMMANDS.iter().find(|(theirs, _)| theirs == command);
        return found.map(|(_, ours)| format!("dm calls it: {ours}"));
    }
    if let Some(advice) = flag(command, rest) {
        return Some(advice.to_owned());
    }
    let what = match *command {
        // It is meant as it is here.
        "install" if rest.contains(&"--image") => return None,
        "install" => "installs Deployment Manager itself in a cluster",
        "upgrade" => "rolls a template version out to all deployments that use it",
        _ => return None,
    };
    let places: Vec<&str> = rest
        .iter()
        .copied()
        .take_while(|word| !matches!(*word, "-f" | "--values" | "--set" | "-n" | "--namespace"))
        .filter(|word| !word.starts_with('-'))
        .collect();
    let instead = match places[..] {
        [name, target, ..] => format!("dm apply {target} --name {name}"),
        [target] => format!("dm apply {target}"),
        [] => return None,
    };
    Some(format!(
        "dm {command} {what}. To create or update a deployment: {instead}"
    ))
}

/// What kubectl takes files for.
fn flag(command: &str, rest: &[&str]) -> Option<&'static str> {
    let has = |flag: &str| rest.contains(&flag);
    match command {
        "delete" | "rm" | "uninstall" if has("-f") => {
            Some("dm deletes a deployment by its name, with all its objects: dm delete NAME")
        }
        "apply" | "deploy" | "diff" if has("-k") => Some(
            "what kustomize prints can be applied: kubectl kustomize DIR | dm apply --name NAME -f -",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse;

    fn advised(line: &str) -> Option<String> {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = parse(&args).unwrap_err();
        advice(&args, error.kind())
    }

    #[test]
    fn a_command_line_of_another_tool_gets_the_one_of_dm() {
        for (line, expected) in [
            ("dm install web redis:v1", "dm apply redis:v1 --name web"),
            (
                "dm install web ./chart --set a=1",
                "dm apply ./chart --name web",
            ),
            (
                "dm upgrade --install web redis:v1 -f values.yaml",
                "dm apply redis:v1 --name web",
            ),
            ("dm upgrade web.yaml", "dm apply web.yaml"),
            ("dm search redis", "dm templates"),
            ("dm rollout undo web", "dm rollback NAME"),
            ("dm delete -f web.yaml", "dm delete NAME"),
            ("dm apply -k overlays/prod", "| dm apply --name NAME -f -"),
        ] {
            let advice = advised(line).unwrap_or_default();
            assert!(advice.contains(expected), "{line}: {advice}");
        }
        assert_eq!(advised("dm install --image dm:1 --nonsense"), None);
        assert_eq!(advised("dm list --nonsense"), None);
        assert_eq!(advised("dm nonsense"), None);
    }
}
