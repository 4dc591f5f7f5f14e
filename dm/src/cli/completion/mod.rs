//! Completion of a command line while the user types it.
//!
//! Responsible for which argument takes which names ([`command()`]); everything else comes from the grammar. The shell calls this
//! program with the words so far (`COMPLETE=<shell>`), so names are the current ones. A manager that does not answer within a
//! second gives no names, without an error.

mod bash;
pub mod command;
mod names;
mod zsh;

use clap::{Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Elvish, Fish, Powershell, Shells};

use crate::cli::Cli;

/// The completion script sets it.
const VARIABLE: &str = "COMPLETE";

type Completer = fn(&std::ffi::OsStr) -> Vec<CompletionCandidate>;

/// Which argument of which commands takes which names.
const TABLE: &[(&[&str], &str, Completer)] = &[
    (
        &[
            "get",
            "history",
            "delete",
            "status",
            "layout",
            "manifest",
            "rollback",
            "stop",
            "operations",
        ],
        "name",
        names::deployments,
    ),
    (
        &["apply", "deploy", "update", "preview", "diff", "expand"],
        "target",
        target,
    ),
    (
        &["describe", "whatif", "upgrade"],
        "template",
        names::templates,
    ),
    (
        &[
            "apply", "deploy", "update", "preview", "diff", "expand", "describe", "whatif",
            "upgrade",
        ],
        "registry",
        names::registries,
    ),
    (
        &[
            "apply", "deploy", "update", "preview", "diff", "expand", "export", "list",
        ],
        "cluster",
        names::clusters,
    ),
    (&["templates"], "listed", names::registries),
    (&["process"], "items", names::stored_templates),
    (
        &["apply", "deploy", "update", "preview", "diff", "expand"],
        "properties",
        names::properties,
    ),
];

fn target(typed: &std::ffi::OsStr) -> Vec<CompletionCandidate> {
    let mut all = names::templates(typed);
    all.extend(PathCompleter::any().complete(typed));
    all
}

/// The grammar, with completers for arguments that take names.
pub fn command() -> Command {
    let mut command = Cli::command();
    for &(subcommands, argument, completer) in TABLE {
        for &subcommand in subcommands {
            command = command.mut_subcommand(subcommand, |command| {
                command.mut_args(|each| match each.get_id() == argument {
                    true => each.add(ArgValueCompleter::new(completer)),
                    false => each,
                })
            });
        }
    }
    command
}

/// Answers and ends the program, if a shell called it for completion. Call it first, outside of any runtime.
pub fn complete() {
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .bin("dm")
        .shells(shells())
        .complete();
}

/// The completion script of a shell; `None` if the shell is not supported.
pub fn script(shell: &str) -> Option<std::io::Result<Vec<u8>>> {
    let shells = shells();
    let shell = shells.completer(shell)?;
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, "dm", "dm", "dm", &mut script);
    Some(written.map(|()| script))
}

const fn shells() -> Shells<'static> {
    Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &zsh::Zsh])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zsh_calls_the_function_that_the_script_defines() {
        let script = String::from_utf8(script("zsh").unwrap().unwrap()).unwrap();
        assert!(
            script.contains("function _clap_dynamic_completer_dm()"),
            "{script}"
        );
        assert!(
            script.contains("    _clap_dynamic_completer_dm \"$@\""),
            "{script}"
        );
    }

    #[test]
    fn every_argument_of_the_table_is_one_of_the_grammar() {
        let grammar = Cli::command();
        for (subcommands, argument, _) in TABLE {
            for subcommand in *subcommands {
                let command = grammar.find_subcommand(subcommand).unwrap();
                let mut ids = command.get_arguments().map(clap::Arg::get_id);
                assert!(
                    ids.any(|id| id == argument),
                    "{subcommand} takes no {argument}"
                );
            }
        }
        command().debug_assert();
    }
}
