//! Words that the glossary replaces stand on no page.

use anyhow::Result;

use super::markdown::documents;

/// Each is obsolete English, or names nothing that a reader can look up.
const REPLACED: [&str; 4] = ["told", "whom", "by now", "the seed"];

/// The page that lists them.
const GLOSSARY: &str = "docs/design/glossary.md";

/// A line's words in small letters, each with a space on both sides.
fn words(line: &str) -> String {
    let text = line.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[test]
fn no_page_has_a_word_that_the_glossary_replaces() -> Result<()> {
    let mut found = Vec::new();
    for document in documents("")?
        .iter()
        .filter(|document| document.path.as_os_str() != GLOSSARY)
    {
        for (number, line) in document.text.lines().enumerate() {
            let words = words(line);
            let is_in = |word: &&&str| words.contains(&format!(" {word} "));
            for word in REPLACED.iter().filter(is_in) {
                let place = document.path.display();
                found.push(format!("{place}:{}: {word}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}
