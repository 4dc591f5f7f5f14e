//! The help: commands in groups, and the flags of all commands on a page of their own (`dm options`).

use clap::Command;

const TABLE: &[(&str, &[&str])] = &[
    (
        "Deploy",
        &["apply", "deploy", "expand", "preview", "diff", "import"],
    ),
    (
        "Look",
        &[
            "list",
            "get",
            "status",
            "events",
            "logs",
            "history",
            "manifest",
            "layout",
            "operations",
            "deployed-types",
            "deployed-instances",
        ],
    ),
    (
        "Change",
        &[
            "update", "rollback", "delete", "upgrade", "whatif", "wait", "stop", "cancel",
        ],
    ),
    (
        "Templates",
        &[
            "templates",
            "describe",
            "process",
            "export",
            "init",
            "lint",
            "test",
            "package",
            "publish",
        ],
    ),
    (
        "Registries",
        &[
            "registries",
            "createregistry",
            "deleteregistry",
            "getcredential",
            "setcredential",
            "deletecredential",
        ],
    ),
    ("Services", &["broker"]),
    (
        "Administration",
        &[
            "admin",
            "clusters",
            "install",
            "context",
            "login",
            "logout",
            "whoami",
            "completion",
            "options",
            "ui",
            "version",
        ],
    ),
];

/// The flags that stay in the help of each command.
const SHOWN: [&str; 3] = ["service", "output", "timeout"];

/// The grammar with its commands in groups, and without the identity flags in the help of each command.
pub fn with_groups(command: Command) -> Command {
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}",
        groups(&command)
    );
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let command = command.help_template(template).mut_args(|argument| {
        let is_shown = SHOWN.contains(&argument.get_id().as_str());
        match argument.is_global_set() && !is_shown {
            true => argument.hide(true),
            false => argument,
        }
    });
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            command.after_help(format!(
                "{help}\n\ndm options lists the flags of all commands."
            ))
        })
    })
}

/// Each group with its commands and what they do.
fn groups(command: &Command) -> String {
    let width = command
        .get_subcommands()
        .map(|command| command.get_name().len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for (title, names) in TABLE {
        text.push_str(&format!("{title}:\n"));
        for name in *names {
            let Some(found) = command.find_subcommand(name) else {
                continue;
            };
            let about = found.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let aliases: Vec<&str> = found.get_visible_aliases().collect();
            let aliases = match aliases.as_slice() {
                [] => String::new(),
                aliases => format!(" [aliases: {}]", aliases.join(", ")),
            };
            let about = first_clause(&about);
            text.push_str(&format!("  {name:<width$}  {about}{aliases}\n"));
        }
        text.push('\n');
    }
    // A blank line comes before the examples.
    text.trim_end().to_owned()
}

/// The text up to the first colon or semicolon: what follows is detail.
fn first_clause(about: &str) -> &str {
    about
        .split([':', ';'])
        .next()
        .unwrap_or(about)
        .trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let listed: Vec<&str> = TABLE
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(listed.len(), known.len(), "a command is in two groups");
    }

    #[test]
    fn the_help_has_the_groups_and_not_the_identity_flags() {
        let help = with_groups(Cli::command()).render_help().to_string();
        assert!(help.contains("Deploy:\n  apply "), "{help}");
        let help = with_groups(Cli::command());
        let help = help.find_subcommand("get").unwrap().clone().render_help();
        assert!(!help.to_string().contains("--client-key"), "{help}");
    }
}
