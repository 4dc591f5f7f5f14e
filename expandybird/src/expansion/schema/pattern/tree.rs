//! A parsed pattern of Python's `re`: flags are resolved, comments are removed.

#[derive(Debug)]
pub struct Pattern {
    pub branches: Branches,
    pub ignores_case: bool,
    pub refers_back: bool,
}

/// The alternatives between `|`.
pub type Branches = Vec<Vec<Node>>;

#[derive(Debug)]
pub enum Node {
    Char(char),
    /// `.`
    Any {
        with_newlines: bool,
    },
    Set {
        is_negated: bool,
        items: Vec<Item>,
    },
    Anchor(Anchor),
    Group {
        kind: GroupKind,
        branches: Branches,
    },
    /// A reference to a group, by its number.
    Reference(usize),
    Repeat {
        node: Box<Node>,
        least: u32,
        most: Option<u32>,
        is_lazy: bool,
    },
}

/// One part of `[…]`.
#[derive(Debug, Clone, Copy)]
pub enum Item {
    Range(char, char),
    Class(Class),
}

/// `\d`, `\s`, `\w` and their opposites.
#[derive(Debug, Clone, Copy)]
pub struct Class {
    pub kind: ClassKind,
    pub is_negated: bool,
    pub is_ascii: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Digit,
    Space,
    Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    TextStart,
    LineStart,
    TextEnd,
    LineEnd,
    /// `$`: the end of the text, or before its final newline.
    LastLineEnd,
    Boundary {
        is_negated: bool,
        is_ascii: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    Capturing,
    Plain,
    IgnoringCase,
    RespectingCase,
    Ahead,
    NotAhead,
    Behind,
    NotBehind,
}

impl From<Class> for Node {
    fn from(class: Class) -> Self {
        let members = Class {
            is_negated: false,
            ..class
        };
        Self::Set {
            is_negated: class.is_negated,
            items: vec![Item::Class(members)],
        }
    }
}

impl Node {
    /// Whether it matches a position and no characters.
    pub fn is_place(&self) -> bool {
        match self {
            Self::Anchor(_) => true,
            Self::Group { kind, branches } => {
                kind.is_look() || branches.iter().flatten().all(Self::is_place)
            }
            Self::Repeat { node, .. } => node.is_place(),
            Self::Char(_) | Self::Any { .. } | Self::Set { .. } | Self::Reference(_) => false,
        }
    }
}

impl GroupKind {
    fn is_look(self) -> bool {
        matches!(
            self,
            Self::Ahead | Self::NotAhead | Self::Behind | Self::NotBehind
        )
    }
}
