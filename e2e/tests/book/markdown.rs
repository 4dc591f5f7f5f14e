//! The Markdown files of the project: their links, headings and code blocks.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use e2e::program::checkout;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Folders of build results and tools.
const NOT_OURS: [&str; 4] = ["target", ".git", "fuzz", "node_modules"];

/// A text file of the project.
pub struct Document {
    /// From the root of the checkout.
    pub path: PathBuf,
    pub text: String,
}

/// A code block: the text after the opening fence, and the lines.
pub struct CodeBlock {
    pub info: String,
    pub text: String,
    /// The line of the opening fence, from 1.
    pub line: usize,
    /// The HTML comment directly before it.
    pub comment: Option<String>,
}

impl Document {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(checkout().join(path))
            .with_context(|| path.display().to_string())?;
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    pub fn links(&self) -> Vec<String> {
        let target = |(event, _): (Event<'_>, _)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        };
        self.events().filter_map(target).collect()
    }

    /// The anchors of its headings, as GitHub and mdBook make them.
    pub fn anchors(&self) -> Vec<String> {
        let (mut anchors, mut heading) = (Vec::new(), None);
        for (event, _) in self.events() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::End(TagEnd::Heading(_)), Some(text)) => {
                    anchors.push(anchor(text));
                    heading = None;
                }
                (Event::Text(part) | Event::Code(part), Some(text)) => text.push_str(&part),
                _ => (),
            }
        }
        anchors
    }

    pub fn code_blocks(&self) -> Vec<CodeBlock> {
        let (mut blocks, mut comment, mut open) = (Vec::new(), None, None);
        for (event, place) in self.events() {
            match event {
                Event::Html(text) => comment = Some(text.trim().to_owned()),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    open = Some(CodeBlock {
                        info: info.into_string(),
                        text: String::new(),
                        line: self.text[..place.start].matches('\n').count() + 1,
                        comment: comment.take(),
                    });
                }
                Event::Text(text) => {
                    comment = None;
                    if let Some(block) = &mut open {
                        block.text.push_str(&text);
                    }
                }
                Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
                _ => (),
            }
        }
        blocks
    }

    /// The code between backticks in the text.
    pub fn code_spans(&self) -> Vec<String> {
        let span = |(event, _): (Event<'_>, _)| match event {
            Event::Code(text) => Some(text.into_string()),
            _ => None,
        };
        self.events().filter_map(span).collect()
    }
}

/// The anchor of a heading, as GitHub and mdBook make it.
pub fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// Every Markdown file below a folder of the checkout, sorted.
pub fn documents(folder: &str) -> Result<Vec<Document>> {
    files(folder, &["md"])
}

/// Every file below a folder of the checkout whose name has one of the endings, sorted.
pub fn files(folder: &str, endings: &[&str]) -> Result<Vec<Document>> {
    let mut paths = Vec::new();
    collect(&checkout().join(folder), endings, &mut paths)?;
    paths.sort();
    let root = checkout();
    paths
        .iter()
        .map(|path| Document::read(path.strip_prefix(&root)?))
        .collect()
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) -> Result<()> {
    let is_wanted = |ending: &OsStr| {
        ending
            .to_str()
            .is_some_and(|ending| endings.contains(&ending))
    };
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_ours = !NOT_OURS.iter().any(|skipped| name == *skipped);
        if entry.file_type()?.is_dir() && is_ours {
            collect(&path, endings, found)?;
        } else if path.extension().is_some_and(is_wanted) {
            found.push(path);
        }
    }
    Ok(())
}
