//! Divides a help text of clap into its parts.
//!
//! Not the grammar of the programs in clap: the page has the texts that users read, and this package depends on no program.

/// A help text.
pub struct Help {
    /// The paragraphs before the usage.
    pub introduction: Vec<String>,
    /// Empty in a text that is about flags alone.
    pub usage: String,
    pub sections: Vec<Section>,
    /// The paragraphs behind the sections.
    pub closing: Vec<String>,
}

/// The part of a help text below a title, such as `Options`.
pub struct Section {
    pub title: String,
    pub lines: Vec<String>,
}

/// A command, an argument or a flag.
#[derive(Default)]
pub struct Entry {
    pub name: String,
    pub text: String,
    /// The values that it may have, each with its meaning if it has one.
    pub values: Vec<String>,
    pub default: Option<String>,
    /// The environment variable that sets it too.
    pub variable: Option<String>,
    /// Its other names.
    pub aliases: Vec<String>,
}

/// Descriptions of entries are indented by more than this.
const ENTRY_INDENT: usize = 6;

impl Help {
    pub fn parse(text: &str) -> Self {
        let ends = |line: &&str| line.starts_with("Usage:") || line.starts_with(' ');
        let introduction = text.lines().take_while(|line| !ends(line));
        let mut rest = text.lines().skip_while(|line| !ends(line)).peekable();
        let mut usage = Vec::new();
        if rest.peek().is_some_and(|line| line.starts_with("Usage:")) {
            usage.extend(rest.by_ref().take_while(|line| !line.is_empty()));
        }
        let (sections, closing) = sections(rest);
        Self {
            introduction: paragraphs(introduction),
            usage: joined(&usage).trim_start_matches("Usage: ").to_owned(),
            sections,
            closing: paragraphs(closing.into_iter()),
        }
    }
}

/// The sections, and the lines outside of them. Lines of a section are indented; flags without a title are `Options`.
fn sections<'a>(lines: impl Iterator<Item = &'a str>) -> (Vec<Section>, Vec<&'a str>) {
    let (mut sections, mut outside) = (Vec::<Section>::new(), Vec::new());
    for line in lines {
        let is_indented = line.starts_with(' ');
        let title = line.strip_suffix(':').filter(|_| !is_indented);
        if let Some(title) = title.or((is_indented && sections.is_empty()).then_some("Options")) {
            sections.push(Section {
                title: title.to_owned(),
                lines: Vec::new(),
            });
        }
        match sections.last_mut() {
            _ if title.is_some() => (),
            Some(section) if is_indented => section.lines.push(line.to_owned()),
            section => {
                outside.push(line);
                section
                    .into_iter()
                    .for_each(|section| section.lines.push(String::new()));
            }
        }
    }
    (sections, outside)
}

impl Section {
    /// The entries of a section of commands, arguments or flags.
    pub fn entries(&self) -> Vec<Entry> {
        let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in &self.lines {
            let text = line.trim();
            let is_entry = !text.is_empty() && line.len() - line.trim_start().len() <= ENTRY_INDENT;
            match (is_entry, blocks.last_mut()) {
                (true, _) => {
                    let (name, start) = text.split_once("  ").unwrap_or((text, ""));
                    blocks.push((name, vec![start.trim()]));
                }
                (false, Some((_, lines))) => lines.push(text),
                (false, None) => (),
            }
        }
        blocks
            .into_iter()
            .map(|(name, lines)| Entry::new(name, lines))
            .collect()
    }

    /// The lines without their indentation and without empty lines around them.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let indent = line.len() - line.trim_start().len();
            &line[indent.min(2)..]
        });
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

impl Entry {
    fn new(name: &str, lines: Vec<&str>) -> Self {
        let mut entry = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let is_value = |line: &&str| line.starts_with("- ");
        entry.values = (lines.iter().filter(|line| is_value(line)))
            .map(|line| joined(&[&line[2..]]))
            .collect();
        let is_text = |line: &&str| !is_value(line) && *line != "Possible values:";
        let text: Vec<_> = lines.into_iter().filter(is_text).collect();
        entry.text = joined(&text);
        while entry.take_bracket() {}
        entry
    }

    /// Moves the last `[key: value]` of the text to its field.
    fn take_bracket(&mut self) -> bool {
        let inner = self.text.strip_suffix(']').and_then(|text| {
            let start = text.rfind('[')?;
            let (key, value) = text[start + 1..].split_once(": ")?;
            Some((start, key.to_owned(), value.to_owned()))
        });
        let Some((start, key, value)) = inner else {
            return false;
        };
        match key.as_str() {
            "env" => self.variable = Some(value.trim_end_matches('=').to_owned()),
            "default" => self.default = Some(value),
            "alias" | "aliases" => self.aliases = value.split(", ").map(str::to_owned).collect(),
            "possible values" => self.values = value.split(", ").map(str::to_owned).collect(),
            _ => return false,
        }
        self.text.truncate(start);
        self.text.truncate(self.text.trim_end().len());
        true
    }
}

fn joined(lines: &[&str]) -> String {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

fn paragraphs<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lines: Vec<_> = lines.collect();
    let paragraphs = lines.split(|line| line.is_empty());
    paragraphs
        .map(joined)
        .filter(|text| !text.is_empty())
        .collect()
}
