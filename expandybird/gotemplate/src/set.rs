//! Templates that may call each other.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::ParseError;
use crate::function_table::FunctionTable;
use crate::parse::{Delimiters, Source, Tree, parse};
use crate::value::GoString;

/// What a template gets for a key that a map lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value: it prints as `<no value>`, and its fields are no values either. `missingkey=default`.
    #[default]
    NoValue,
    /// The zero value of the map's elements. `missingkey=zero`.
    Zero,
    /// The execution fails. `missingkey=error`.
    Error,
}

/// How the templates of a set are read and run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a missing key gives.
    pub missing_key: MissingKey,
    /// What begins and ends an action.
    pub delimiters: Delimiters,
}

/// Templates by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates(HashMap<Arc<str>, Arc<Tree>>);

impl Templates {
    /// Adds a tree. An empty one does not replace another: `exists` says whether there is one elsewhere.
    fn add(&mut self, tree: Tree, exists: impl Fn(&str) -> bool) {
        let is_known = self.0.contains_key(&tree.name) || exists(&tree.name);
        if !(is_known && tree.is_empty()) {
            self.0.insert(Arc::clone(&tree.name), Arc::new(tree));
        }
    }
}

/// Templates that may call each other, with the functions that they may call. It holds no values of a run: threads may
/// share it.
#[derive(Clone, Debug)]
pub struct Set {
    name: String,
    functions: Arc<FunctionTable>,
    options: Options,
    templates: Templates,
}

impl Set {
    /// A set without templates. The name stands in errors about templates that are missing.
    pub fn new(name: impl Into<String>, functions: Arc<FunctionTable>, options: Options) -> Self {
        Self {
            name: name.into(),
            functions,
            options,
            templates: Templates::default(),
        }
    }

    /// Parses a text as a template of this name, with all that it defines. A later definition replaces an earlier one
    /// of its name, unless it is empty.
    ///
    /// # Errors
    /// The text is no template. The set is unchanged then.
    pub fn parse(&mut self, name: &str, text: impl Into<GoString>) -> Result<(), ParseError> {
        for tree in self.trees(name, text.into())? {
            self.templates.add(tree, |_| false);
        }
        Ok(())
    }

    /// [`Self::parse`], with a change of each tree before it is added.
    ///
    /// # Errors
    /// The text is no template, or a tree cannot be changed. The set is unchanged then.
    pub fn parse_with<E: From<ParseError>>(
        &mut self,
        name: &str,
        text: impl Into<GoString>,
        mut change: impl FnMut(&mut Tree) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut trees = self.trees(name, text.into())?;
        trees.iter_mut().try_for_each(&mut change)?;
        for tree in trees {
            self.templates.add(tree, |_| false);
        }
        Ok(())
    }

    fn trees(&self, name: &str, text: GoString) -> Result<Vec<Tree>, ParseError> {
        let source = Arc::new(Source {
            name: name.to_owned(),
            text,
        });
        parse(&source, &self.options.delimiters, &self.functions)
    }

    /// Whether a template has this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.templates.0.contains_key(name)
    }

    /// The names of the templates, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.templates.0.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names
    }
}

/// What a running template sees of the set: its templates, and those that texts being run have added.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    set: &'s Set,
    templates: &'s Templates,
    outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    pub fn new(set: &'s Set) -> Self {
        Self {
            set,
            templates: &set.templates,
            outer: None,
        }
    }

    pub fn set_name(&self) -> &'s str {
        &self.set.name
    }

    pub fn missing_key(&self) -> MissingKey {
        self.set.options.missing_key
    }

    pub fn find(&self, name: &str) -> Option<&'s Tree> {
        match self.templates.0.get(name) {
            Some(tree) => Some(tree),
            None => self.outer?.find(name),
        }
    }

    /// Parses a text for [`Scope::with`].
    pub fn parse(&self, name: &str, text: &[u8]) -> Result<Templates, ParseError> {
        let mut templates = Templates::default();
        for tree in self.set.trees(name, text.into())? {
            let is_own = *tree.name == *name;
            templates.add(tree, |known| !is_own && self.find(known).is_some());
        }
        Ok(templates)
    }

    /// The same, with further templates.
    pub fn with(&'s self, templates: &'s Templates) -> Self {
        Self {
            set: self.set,
            templates,
            outer: Some(self),
        }
    }
}
