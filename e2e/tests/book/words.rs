//! The words that the glossary replaces are in no page, and in no comment, text or name of the code.

use anyhow::Result;

use super::markdown::{Document, documents, files};

/// Each is obsolete English, or names nothing that a reader can look up.
const REPLACED: [&str; 5] = ["told", "whom", "whoever", "by now", "the seed"];

/// Random numbers in code have a seed.
const RIGHT_IN_CODE: &str = "the seed";

/// The page that lists them, and this test.
const LISTS: [&str; 2] = ["docs/design/glossary.md", "e2e/tests/book/words.rs"];

/// Names, comments and texts of code, scripts and configuration.
const CODE: [&str; 11] = [
    "rs", "py", "jinja", "go", "c", "sh", "toml", "yaml", "schema", "txt", "snap",
];

/// A field of `dm test -o json`. Programs read it, so it keeps its name.
const FIELD: &str = "\"told\"";

/// A line's words in small letters, each with a space on both sides. A name with underscores is one word.
fn words(line: &str) -> String {
    let text = line.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn replaced_words(documents: &[Document], replaced: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let is_checked =
        |document: &&Document| !LISTS.iter().any(|list| document.path.as_os_str() == *list);
    for document in documents.iter().filter(is_checked) {
        for (number, line) in document.text.lines().enumerate() {
            let words = words(&line.replace(FIELD, ""));
            let is_in = |word: &&&str| words.contains(&format!(" {word} "));
            for word in replaced.iter().filter(is_in) {
                let path = document.path.display();
                found.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    found
}

#[test]
fn no_page_has_a_word_that_the_glossary_replaces() -> Result<()> {
    let found = replaced_words(&documents("")?, &REPLACED);
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[test]
fn no_code_has_a_word_that_the_glossary_replaces() -> Result<()> {
    let replaced: Vec<_> = (REPLACED.into_iter())
        .filter(|word| *word != RIGHT_IN_CODE)
        .collect();
    let found = replaced_words(&files("", &CODE)?, &replaced);
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}
