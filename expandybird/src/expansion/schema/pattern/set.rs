//! `[…]`.

use super::flags::Flags;
use super::parse::Parser;
use super::tree::{Item, Node};
use super::{PatternError, Problem, escape};

/// Reads the part after the opening bracket.
pub fn parse(parser: &mut Parser, flags: Flags) -> Result<Node, PatternError> {
    let is_negated = parser.eat('^');
    let mut items = Vec::new();
    // A bracket in the first position is a plain character.
    while items.is_empty() || parser.peek() != Some(']') {
        let first = member(parser, flags)?;
        match (first, parser.eat('-')) {
            (item, false) => items.push(item),
            (item, true) if parser.peek() == Some(']') => {
                items.extend([item, Item::Range('-', '-')]);
            }
            (first, true) => {
                let last = member(parser, flags)?;
                items.push(range(parser, first, last)?);
            }
        }
    }
    parser.next();
    Ok(Node::Set { is_negated, items })
}

fn member(parser: &mut Parser, flags: Flags) -> Result<Item, PatternError> {
    let character = match parser.next() {
        None => return Err(parser.error(Problem::UnterminatedSet)),
        Some('\\') if parser.eat('b') => '\x08',
        Some('\\') => match escape::class(parser, flags.is_ascii) {
            Some(class) => return Ok(Item::Class(class)),
            None => escape::character(parser)?,
        },
        Some(other) => other,
    };
    Ok(Item::Range(character, character))
}

fn range(parser: &Parser, first: Item, last: Item) -> Result<Item, PatternError> {
    match (first, last) {
        (Item::Range(first, _), Item::Range(last, _)) if first <= last => {
            Ok(Item::Range(first, last))
        }
        _ => Err(parser.error(Problem::Range)),
    }
}
