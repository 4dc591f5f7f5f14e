//! zsh loads a completion file at the first Tab and calls it. clap's script answers from the second one on. This module adds the first.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap_complete::env::{self, EnvCompleter};

const FIRST: &str = r#"
if [[ $funcstack[1] = _NAME ]]; then
    _clap_dynamic_completer_NAME "$@"
fi
"#;

pub struct Zsh;

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        env::Zsh.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Zsh.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        script: &mut dyn Write,
    ) -> std::io::Result<()> {
        env::Zsh.write_registration(variable, name, bin, completer, script)?;
        script.write_all(FIRST.replace("NAME", name).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        answer: &mut dyn Write,
    ) -> std::io::Result<()> {
        env::Zsh.write_complete(command, words, folder, answer)
    }
}
