//! Bash splits words also at `:` and `=`, which template references and properties contain. This module undoes that.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap_complete::env::EnvCompleter;

const SEPARATOR: &str = "\n";

/// Takes the words between blanks, up to the cursor. From each candidate, cuts off the part that bash treats as a separate word.
const SCRIPT: &str = r#"
_dm() {
    local line=${COMP_LINE:0:COMP_POINT} prefix= character
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    local typed=${words[${#words[@]}-1]}
    for character in : =; do
        if [[ $COMP_WORDBREAKS == *"$character"* && $typed == *"$character"* ]]; then
            local head=${typed%"$character"*}$character
            (( ${#head} > ${#prefix} )) && prefix=$head
        fi
    done
    local IFS=$'\n'
    COMPREPLY=($(VARIABLE=bash COMPLETER -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    # Nothing more comes behind a name, but behind these.
    [[ ${COMPREPLY[0]-} == *[=:/,.] ]] && compopt -o nospace
    return 0
}
complete -o bashdefault -o default -F _dm BIN
"#;

pub struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        script: &mut dyn Write,
    ) -> std::io::Result<()> {
        let text = SCRIPT
            .replace("VARIABLE", variable)
            .replace("COMPLETER", completer)
            .replace("BIN", bin);
        script.write_all(text.trim_start().as_bytes())
    }

    /// The last word is the one to complete.
    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        answer: &mut dyn Write,
    ) -> std::io::Result<()> {
        let last = words.len().saturating_sub(1);
        for candidate in clap_complete::engine::complete(command, words, last, folder)? {
            write!(
                answer,
                "{}{SEPARATOR}",
                candidate.get_value().to_string_lossy()
            )?;
        }
        Ok(())
    }
}
