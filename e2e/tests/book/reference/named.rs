//! Every command and every flag that the book names exists.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};

use super::super::markdown::{Document, documents};
use super::help::{SERVICES, aliases, all};

/// The flags of each command: `dm deploy`, `manager`.
struct Known(BTreeMap<String, BTreeSet<String>>);

impl Known {
    fn read() -> Result<Self> {
        let mut known = BTreeMap::new();
        for program in SERVICES.iter().chain(&["dm"]) {
            let helps = all(program, &[])?;
            let others = helps.first().map(|(_, help)| aliases(help));
            // `dm options` has the flags that every command takes.
            let is_options = |(name, _): &&(String, String)| name.ends_with(" options");
            let of_all = helps.iter().find(is_options).map(|(_, help)| flags(help));
            let of_all = of_all.unwrap_or_default();
            let flags = |help: &str| &flags(help) | &of_all;
            known.extend(helps.into_iter().map(|(name, help)| (name, flags(&help))));
            for (alias, command) in others.unwrap_or_default() {
                let flags = known.get(&format!("{program} {command}")).cloned();
                known.insert(format!("{program} {alias}"), flags.unwrap_or_default());
            }
        }
        Ok(Self(known))
    }

    /// What a text names that does not exist. A text that begins with no program of ours is not judged.
    fn fault(&self, text: &str) -> Option<String> {
        if text.starts_with("--") {
            let is_known = |flag: &&String| self.0.values().any(|flags| flags.contains(*flag));
            let all = flags(text);
            return all.iter().find(|flag| !is_known(flag)).cloned();
        }
        let words: Vec<_> = text.split_whitespace().collect();
        let program = words.first().filter(|word| self.0.contains_key(**word))?;
        let names = (1..=words.len())
            .rev()
            .map(|count| words[..count].join(" "));
        let name = names.into_iter().find(|name| self.0.contains_key(name))?;
        if *program == "dm" && name == "dm" {
            let command = words
                .get(1)
                .filter(|word| word.chars().all(char::is_alphabetic));
            return command.map(|command| format!("dm {command}"));
        }
        let all = flags(text);
        all.difference(&self.0[&name]).next().cloned()
    }
}

/// The words that begin with `--` in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = text.split(|c: char| !is_part(c));
    words
        .filter(|word| word.len() > 3 && word.starts_with("--"))
        .map(str::to_owned)
        .collect()
}

/// What stands between backticks, and the commands of the examples up to a pipe.
fn texts(document: &Document) -> Vec<String> {
    let mut texts = document.code_spans();
    // These compare our flags with those of other programs.
    if document.path.display().to_string().contains("coming-from") {
        texts.retain(|text| text.starts_with("dm "));
    }
    for block in document.code_blocks() {
        let commands = block
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("$ "));
        let own = commands.filter_map(|line| line.split(" | ").next());
        texts.extend(own.map(str::to_owned));
    }
    texts
}

#[test]
fn the_book_names_no_command_and_no_flag_that_does_not_exist() -> Result<()> {
    let known = Known::read().context("the programs' help")?;
    let mut faults = Vec::new();
    for document in documents("docs")? {
        for text in texts(&document) {
            let place = document.path.display();
            let fault = known.fault(&text);
            faults.extend(fault.map(|fault| format!("{place}: `{text}`: there is no {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}
