//! A page's examples as one shell script: what one of them sets, changes or saves is there for the next.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use snapbox::{Assert, Data, IntoData as _};

use super::page::{Command, Example};

/// A page takes some seconds; other builds may take the processor meanwhile.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a command ends that gets Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Ends a file's text in the script.
const END: &str = "END-OF-THE-FILE";

/// Runs a page's examples with bash in a folder of their own. Gives each that is not true, with what was seen instead.
pub async fn run(
    examples: &[Example],
    folder: &Path,
    mut bash: tokio::process::Command,
) -> Result<Vec<String>> {
    let (page, seen) = (folder.join("page"), folder.join("seen"));
    std::fs::create_dir_all(&page)?;
    std::fs::create_dir_all(&seen)?;
    let file = folder.join("script");
    std::fs::write(&file, script(examples, &seen))?;
    bash.arg(&file)
        .current_dir(&page)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let status = tokio::time::timeout(PATIENCE, bash.status()).await;
    let status = status.context("the page did not end in time")??;
    ensure!(status.success(), "the page's script ended with {status}");
    let commands = examples.iter().enumerate();
    let faults = commands.filter_map(|(number, example)| match example {
        Example::File { .. } => None,
        Example::Command(command) => fault(command, &seen.join(number.to_string())).transpose(),
    });
    faults.collect()
}

/// The output and the status of the example with the number N are in the files `N.out`, `N.err` and `N.code`.
fn script(examples: &[Example], seen: &Path) -> String {
    // A page may start programs in the background.
    let mut script = "trap 'kill $(jobs -p) 2>/dev/null' EXIT\n".to_owned();
    for (number, example) in examples.iter().enumerate() {
        let prefix = seen.join(number.to_string());
        let prefix = prefix.display();
        let _ = match example {
            Example::File { name, text } => writeln!(
                script,
                "mkdir -p \"$(dirname {name})\" && cat >{name} <<'{END}'\n{text}{END}"
            ),
            // With job control, so that the shell does not have it ignore Ctrl-C.
            Example::Command(command) if command.is_endless => writeln!(
                script,
                "set -m\n{} >'{prefix}.out' 2>'{prefix}.err' &\n\
                 until [ -s '{prefix}.out' ] || ! kill -0 $! 2>'{prefix}.gone'; do sleep 0.1; done\n\
                 kill -INT $! 2>'{prefix}.gone'\nwait $!\necho $(($? == {INTERRUPTED} ? 0 : 1)) >'{prefix}.code'\nset +m",
                command.text
            ),
            Example::Command(command) => writeln!(
                script,
                "{{ {}\n}} >'{prefix}.out' 2>'{prefix}.err'\necho $? >'{prefix}.code'",
                command.text
            ),
        };
    }
    script
}

/// What is not true about an example, if anything is. A reader sees the errors of a command that fails.
fn fault(command: &Command, seen: &Path) -> Result<Option<String>> {
    let read = |ending| std::fs::read_to_string(seen.with_extension(ending));
    let (mut output, errors) = (read("out")?, read("err")?);
    let has_failed = read("code")?.trim() != "0";
    if command.fails {
        output.push_str(&errors);
    }
    let place = format!("line {}: $ {}", command.line, command.text);
    if has_failed != command.fails {
        let ended = if has_failed { "failed" } else { "did not fail" };
        return Ok(Some(format!("{place}\nit {ended}:\n{output}{errors}")));
    }
    let expected = Data::text(folded(&command.output));
    let compared = Assert::new().try_eq(None, folded(&output).into_data(), expected);
    Ok(compared.err().map(|fault| format!("{place}\n{fault}")))
}

/// The columns of a table are as wide as their longest word, which may be another in each run.
fn folded(text: &str) -> String {
    let words = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<_> = line.split_whitespace().collect();
        format!("{}{}\n", &line[..indent], words.join(" "))
    };
    text.lines().map(words).collect()
}
