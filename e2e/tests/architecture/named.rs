//! The names that follow the crate's root in a piece of code.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemUse, Macro};

use crate::arrows::{is_for_tests, paths};

/// The names that follow the crate's root in what is visited.
pub struct Named {
    /// Of the module that is visited: so many `super` lead to the root.
    depth: usize,
    found: BTreeSet<String>,
}

impl Named {
    pub fn new(depth: usize) -> Self {
        Self {
            depth,
            found: BTreeSet::new(),
        }
    }

    pub fn into_names(self) -> impl Iterator<Item = String> {
        self.found.into_iter()
    }

    /// A path counts if it begins at the root.
    fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a str>) {
        let mut path = path.into_iter().peekable();
        let is_at_root = match path.peek() {
            Some(&"crate") => {
                path.next();
                true
            }
            Some(&"super") => {
                let mut ups = 0;
                while path.next_if_eq(&"super").is_some() {
                    ups += 1;
                }
                ups == self.depth
            }
            _ => false,
        };
        if let Some(name) = path.next().filter(|_| is_at_root) {
            self.found.insert(name.to_owned());
        }
    }

    /// What a macro is called with need not parse: paths in it are found by their tokens.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(path.iter().map(String::as_str));
                        path.clear();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.add_tokens(group.stream());
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => colons = 0,
            }
        }
        self.add(path.iter().map(String::as_str));
    }
}

impl<'ast> Visit<'ast> for Named {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for path in paths(&item.tree) {
            self.add(path.iter().map(String::as_str));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.add(segments.iter().map(String::as_str));
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_tokens(call.tokens.clone());
    }
}
