//! The local files of a request, so that an error of a service can quote them.

/// A file as the services know it and as the user does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its names in errors of services.
    names: Vec<String>,
    pub shown: String,
    pub content: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources(Vec<SourceFile>);

impl Sources {
    pub fn add(&mut self, names: Vec<String>, shown: &str, content: &str) {
        self.0.push(SourceFile {
            names,
            shown: shown.to_owned(),
            content: content.to_owned(),
        });
    }

    /// The services also call the configuration by the deployment's name.
    pub fn name_configuration(&mut self, name: &str) {
        if let Some(first) = self.0.first_mut() {
            first.names.push(name.to_owned());
        }
    }

    pub fn find(&self, name: &str) -> Option<&SourceFile> {
        self.0
            .iter()
            .find(|file| file.names.iter().any(|known| known == name))
    }
}
