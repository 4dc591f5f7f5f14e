//! The local files of a request, so that an error of a service can quote them.

/// A file as the services know it and as the user does; or a file that is a part of what the services know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its names in errors of services.
    names: Vec<String>,
    pub shown: String,
    pub content: String,
    /// Where the content begins in what the services know, from 1.
    first_line: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources(Vec<SourceFile>);

impl Sources {
    pub fn add(&mut self, names: Vec<String>, shown: &str, content: &str) {
        self.add_part(names, shown, content, 1);
    }

    /// Adds a file whose content begins at a line of what the services know. Parts are added in their order.
    pub fn add_part(&mut self, names: Vec<String>, shown: &str, content: &str, first_line: u32) {
        self.0.push(SourceFile {
            names,
            shown: shown.to_owned(),
            content: content.to_owned(),
            first_line,
        });
    }

    /// The services also call the configuration by the deployment's name.
    pub fn name_configuration(&mut self, name: &str) {
        let Some(configuration) = self.0.first().map(|first| first.names.clone()) else {
            return;
        };
        for part in self.0.iter_mut().filter(|file| file.names == configuration) {
            part.names.push(name.to_owned());
        }
    }

    /// The file at a line of what a service calls `name`, and the line in that file.
    pub fn find(&self, name: &str, line: Option<u32>) -> Option<(&SourceFile, Option<u32>)> {
        let has_name = |file: &&SourceFile| file.names.iter().any(|known| known == name);
        let line_in = |file: &SourceFile| line.map(|line| line.saturating_sub(file.first_line) + 1);
        let mut parts = self.0.iter().filter(has_name);
        let found = parts
            .rfind(|part| part.first_line <= line.unwrap_or(1).max(1))
            .or_else(|| self.0.iter().find(has_name))?;
        Some((found, line_in(found)))
    }
}
