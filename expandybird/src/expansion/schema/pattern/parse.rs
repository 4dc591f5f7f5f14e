//! Reads a pattern like Python's `re`.

use super::flags::{self, Flags};
use super::tree::{Anchor, Branches, GroupKind, Node, Pattern};
use super::{PatternError, Problem, escape, set};

/// How deep groups may nest: the limit of the regex engine.
const DEPTH: usize = 50;
/// Python's largest repeat count.
const MOST_REPEATS: u32 = u32::MAX - 1;

pub fn parse(pattern: &str) -> Result<Pattern, PatternError> {
    let mut parser = Parser {
        chars: pattern.chars().collect(),
        at: 0,
        groups: Vec::new(),
        depth: 0,
        refers_back: false,
    };
    let mut flags = Flags::default();
    let branches = parser.branches(&mut flags)?;
    if parser.at < parser.chars.len() {
        return Err(parser.error(Problem::Unbalanced));
    }
    Ok(Pattern {
        branches,
        ignores_case: flags.ignores_case,
        refers_back: parser.refers_back,
    })
}

struct Group {
    name: Option<String>,
    is_open: bool,
}

pub struct Parser {
    chars: Vec<char>,
    at: usize,
    groups: Vec<Group>,
    depth: usize,
    refers_back: bool,
}

impl Parser {
    pub fn error(&self, problem: Problem) -> PatternError {
        PatternError {
            problem,
            at: self.at,
        }
    }

    pub fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    pub fn eat(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads matching characters, at most this many.
    pub fn take(&mut self, most: usize, fits: impl Fn(char) -> bool) -> String {
        let rest = self.chars[self.at..].iter().copied();
        let taken: String = rest.take(most).take_while(|&c| fits(c)).collect();
        self.at += taken.chars().count();
        taken
    }

    /// Reads up to and including a terminator.
    fn until(&mut self, end: char, problem: Problem) -> Result<String, PatternError> {
        let taken = self.take(usize::MAX, |c| c != end);
        match self.eat(end) {
            true => Ok(taken),
            false => Err(self.error(problem)),
        }
    }

    /// Reads up to a closing bracket, or the end. Flags of the whole pattern are allowed only at its start, and are
    /// returned in `flags`.
    fn branches(&mut self, flags: &mut Flags) -> Result<Branches, PatternError> {
        let mut branches = vec![Vec::new()];
        while let Some(character) = self.peek() {
            let is_start = self.depth == 0 && branches.len() == 1;
            match (character, branches.last_mut()) {
                (')', _) | (_, None) => break,
                ('|', _) => {
                    self.at += 1;
                    branches.push(Vec::new());
                }
                (_, Some(nodes)) => {
                    let is_start = is_start && nodes.is_empty();
                    self.item(nodes, flags, is_start)?;
                }
            }
        }
        Ok(branches)
    }

    fn item(
        &mut self,
        nodes: &mut Vec<Node>,
        flags: &mut Flags,
        is_start: bool,
    ) -> Result<(), PatternError> {
        let Some(character) = self.next() else {
            return Ok(());
        };
        let node = match character {
            ' ' | '\t'..='\r' if flags.is_verbose => return Ok(()),
            '#' if flags.is_verbose => {
                self.take(usize::MAX, |c| c != '\n');
                return Ok(());
            }
            '\\' => self.escaped(*flags)?,
            '[' => set::parse(self, *flags)?,
            '*' | '+' | '?' | '{' => match self.counts(character)? {
                Some(counts) => return self.repeat(nodes, counts),
                None => Node::Char('{'),
            },
            '.' => Node::Any {
                with_newlines: flags.dot_takes_newlines,
            },
            '^' if flags.are_lines => Node::Anchor(Anchor::LineStart),
            '^' => Node::Anchor(Anchor::TextStart),
            '$' if flags.are_lines => Node::Anchor(Anchor::LineEnd),
            '$' => Node::Anchor(Anchor::LastLineEnd),
            '(' => match self.bracket(flags, is_start)? {
                Some(node) => node,
                None => return Ok(()),
            },
            other => Node::Char(other),
        };
        nodes.push(node);
        Ok(())
    }

    fn escaped(&mut self, flags: Flags) -> Result<Node, PatternError> {
        let is_ascii = flags.is_ascii;
        let anchor = match self.peek() {
            Some('A') => Anchor::TextStart,
            Some('Z') => Anchor::TextEnd,
            Some(letter @ ('b' | 'B')) => Anchor::Boundary {
                is_negated: letter == 'B',
                is_ascii,
            },
            Some('1'..='9') => return self.reference_or_octal(),
            _ => {
                return match escape::class(self, is_ascii) {
                    Some(class) => Ok(Node::from(class)),
                    None => escape::character(self).map(Node::Char),
                };
            }
        };
        self.at += 1;
        Ok(Node::Anchor(anchor))
    }

    /// `\1`, unless three octal digits make it a character.
    fn reference_or_octal(&mut self) -> Result<Node, PatternError> {
        let start = self.at;
        let octal = self.take(3, |c| c.is_digit(8));
        if octal.len() == 3 {
            return Ok(Node::Char(escape::octal(self, &octal)?));
        }
        self.at = start;
        let number = self.take(2, |c| c.is_ascii_digit()).parse().unwrap_or(0);
        self.reference(number)
    }

    fn reference(&mut self, number: usize) -> Result<Node, PatternError> {
        let group = number.checked_sub(1).and_then(|at| self.groups.get(at));
        match group {
            None => Err(self.error(Problem::UnknownGroup)),
            Some(group) if group.is_open => Err(self.error(Problem::OpenGroup)),
            Some(_) => {
                self.refers_back = true;
                Ok(Node::Reference(number))
            }
        }
    }

    /// The repeat count. `None` if a `{` is a plain character.
    fn counts(&mut self, character: char) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        let start = self.at;
        Ok(match character {
            '*' => Some((0, None)),
            '+' => Some((1, None)),
            '?' => Some((0, Some(1))),
            _ if self.peek() == Some('}') => None,
            _ => {
                let least = self.take(usize::MAX, |c| c.is_ascii_digit());
                let most = match self.eat(',') {
                    true => self.take(usize::MAX, |c| c.is_ascii_digit()),
                    false => least.clone(),
                };
                if !self.eat('}') {
                    self.at = start;
                    return Ok(None);
                }
                let least = self.count(&least)?.unwrap_or(0);
                let most = self.count(&most)?;
                if most.is_some_and(|most| most < least) {
                    return Err(self.error(Problem::Repeats));
                }
                Some((least, most))
            }
        })
    }

    fn count(&self, digits: &str) -> Result<Option<u32>, PatternError> {
        if digits.is_empty() {
            return Ok(None);
        }
        let count = digits.parse().ok().filter(|&count| count <= MOST_REPEATS);
        count.map_or_else(
            || Err(self.error(Problem::Repeats)),
            |count| Ok(Some(count)),
        )
    }

    fn repeat(
        &mut self,
        nodes: &mut Vec<Node>,
        (least, most): (u32, Option<u32>),
    ) -> Result<(), PatternError> {
        let node = match nodes.pop() {
            None | Some(Node::Anchor(_)) => return Err(self.error(Problem::NothingToRepeat)),
            Some(Node::Repeat { .. }) => return Err(self.error(Problem::MultipleRepeat)),
            Some(node) => Box::new(node),
        };
        let is_lazy = self.eat('?');
        if !is_lazy && self.peek() == Some('+') {
            return Err(self.error(Problem::Unsupported("possessive repetition")));
        }
        nodes.push(Node::Repeat {
            node,
            least,
            most,
            is_lazy,
        });
        Ok(())
    }

    /// The group after a `(`. `None` for a comment, or for flags of the whole pattern.
    fn bracket(&mut self, flags: &mut Flags, is_start: bool) -> Result<Option<Node>, PatternError> {
        if !self.eat('?') {
            return self.capture(None, *flags).map(Some);
        }
        let kind = match self.next() {
            Some('P') if self.eat('<') => {
                let name = self.until('>', Problem::GroupName)?;
                return self.capture(Some(name), *flags).map(Some);
            }
            Some('P') if self.eat('=') => {
                let name = self.until(')', Problem::GroupName)?;
                return self.named(&name).map(Some);
            }
            Some('#') => {
                self.until(')', Problem::Unterminated)?;
                return Ok(None);
            }
            Some(':') => GroupKind::Plain,
            Some('=') => GroupKind::Ahead,
            Some('!') => GroupKind::NotAhead,
            Some('<') if self.eat('=') => GroupKind::Behind,
            Some('<') if self.eat('!') => GroupKind::NotBehind,
            Some('(') => return Err(self.error(Problem::Unsupported("(?(…)…|…)"))),
            Some('>') => return Err(self.error(Problem::Unsupported("(?>…)"))),
            Some(letter @ ('a'..='z' | 'L' | '-')) => {
                return self.flagged(letter, flags, is_start);
            }
            _ => return Err(self.error(Problem::Extension)),
        };
        self.group(kind, *flags).map(Some)
    }

    /// `(?i)` at the start, or `(?i-m:…)`.
    fn flagged(
        &mut self,
        first: char,
        flags: &mut Flags,
        is_start: bool,
    ) -> Result<Option<Node>, PatternError> {
        let change = flags::parse(self, first)?;
        let changed = change.apply(*flags);
        if !change.is_scoped {
            if !is_start {
                return Err(self.error(Problem::LateFlags));
            }
            *flags = changed;
            return Ok(None);
        }
        let kind = match (changed.ignores_case, flags.ignores_case) {
            (true, false) => GroupKind::IgnoringCase,
            (false, true) => GroupKind::RespectingCase,
            (true, true) | (false, false) => GroupKind::Plain,
        };
        self.group(kind, changed).map(Some)
    }

    fn capture(&mut self, name: Option<String>, flags: Flags) -> Result<Node, PatternError> {
        if let Some(name) = &name {
            let is_letter = |c: char| c.is_alphabetic() || c == '_';
            let is_name =
                name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_numeric());
            let is_taken = self
                .groups
                .iter()
                .any(|group| group.name.as_ref() == Some(name));
            if !is_name || is_taken {
                return Err(self.error(Problem::GroupName));
            }
        }
        let index = self.groups.len();
        self.groups.push(Group {
            name,
            is_open: true,
        });
        let node = self.group(GroupKind::Capturing, flags)?;
        if let Some(group) = self.groups.get_mut(index) {
            group.is_open = false;
        }
        Ok(node)
    }

    fn named(&mut self, name: &str) -> Result<Node, PatternError> {
        let is_it = |group: &Group| group.name.as_deref() == Some(name);
        match self.groups.iter().position(is_it) {
            None => Err(self.error(Problem::UnknownGroup)),
            Some(index) => self.reference(index + 1),
        }
    }

    fn group(&mut self, kind: GroupKind, mut flags: Flags) -> Result<Node, PatternError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(Problem::TooDeep));
        }
        let branches = self.branches(&mut flags)?;
        self.depth -= 1;
        match self.eat(')') {
            true => Ok(Node::Group { kind, branches }),
            false => Err(self.error(Problem::Unterminated)),
        }
    }
}
