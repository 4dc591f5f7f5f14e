//! Which functions a template may name.

use std::collections::HashMap;

use crate::value::Function;

/// A function of Go's own `text/template`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as in templates")]
pub enum Builtin {
    And,
    Call,
    Eq,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    Urlquery,
}

impl Builtin {
    const ALL: [(&'static str, Self); 19] = [
        ("and", Self::And),
        ("call", Self::Call),
        ("eq", Self::Eq),
        ("ge", Self::Ge),
        ("gt", Self::Gt),
        ("html", Self::Html),
        ("index", Self::Index),
        ("js", Self::Js),
        ("le", Self::Le),
        ("len", Self::Len),
        ("lt", Self::Lt),
        ("ne", Self::Ne),
        ("not", Self::Not),
        ("or", Self::Or),
        ("print", Self::Print),
        ("printf", Self::Printf),
        ("println", Self::Println),
        ("slice", Self::Slice),
        ("urlquery", Self::Urlquery),
    ];

    /// The name in templates.
    #[must_use]
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(_, builtin)| *builtin == self);
        entry.map_or("", |(name, _)| name)
    }

    fn find(name: &str) -> Option<Self> {
        let entry = Self::ALL.iter().find(|(known, _)| *known == name);
        entry.map(|(_, builtin)| *builtin)
    }
}

/// What a name in a template calls.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A function of the table.
    Registered(Function),
    /// A function of Go's own.
    Builtin(Builtin),
}

impl Callee {
    /// The name in templates.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Registered(function) => function.name,
            Self::Builtin(builtin) => builtin.name(),
        }
    }
}

/// The functions that templates may call, besides the built-in ones, which they hide.
#[derive(Clone, Debug, Default)]
pub struct FunctionTable {
    functions: HashMap<&'static str, Function>,
}

impl FunctionTable {
    /// Adds functions. A later one replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, functions: &[Function]) -> Self {
        let named = functions.iter().map(|function| (function.name, *function));
        self.functions.extend(named);
        self
    }

    /// Removes a function.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.functions.remove(name);
        self
    }

    /// What this name calls.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Callee> {
        match self.functions.get(name) {
            Some(function) => Some(Callee::Registered(*function)),
            None => Builtin::find(name).map(Callee::Builtin),
        }
    }

    /// Whether the table, not Go, has a function of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }
}
