//! Turns the operators `%`, `*`, `+`, `~`, `<`, `<=`, `>` and `>=` of a template into calls of [`super::operators`].
//!
//! Works on the text, for minijinja lets nobody at its syntax tree: only calls and commas are put
//! in, nothing is moved, so every line keeps its number. What it does not understand it leaves as
//! it is, and minijinja says what is wrong with it.
//!
//! ```text
//! {{ a + b * c % d }}   ─►   {{ __add__(a , __mod__(__mul__(b , c) , d)) }}
//! ```
//!
//! Literals of lists and maps are wrapped into a call that makes them a template's own, to be
//! changed in place; [`statements`] do so with what they assign.
//!
//! Long plain text gets an empty expression every few hundred bytes, so that a loop around it
//! takes as many steps as it writes; a macro begins with one.

mod edits;
mod statements;
mod strings;
mod tokens;

use super::operators::{ADD, COMPARE, CONCAT, EACH, MODULO, MULTIPLY, OWN};
use edits::{Edits, Rank};
use statements::{Statement, Statements};
use tokens::{Kind, Token, kind, length};

/// Plain text between two steps, in bytes: with two million steps, at most half a gigabyte.
const PLAIN_BYTES: usize = 256;
const STEP: &str = "{{''}}";

pub fn rewrite(source: &str) -> String {
    let mut edits = Edits::default();
    let mut statements = Statements::default();
    let mut at = 0;
    while let Some(found) = source[at..].find('{') {
        let start = at + found;
        let end = match source.as_bytes().get(start + 1) {
            Some(b'#') => source[start..].find("#}").map(|end| start + end + 2),
            Some(b'{') => code(source, start, "}}", &mut statements, &mut edits),
            Some(b'%') => statement(source, start, &mut statements, &mut edits),
            _ => Some(start + 1),
        };
        steps(source, at, start, &mut edits);
        let Some(end) = end else {
            return edits.apply(source);
        };
        at = end;
    }
    steps(source, at, source.len(), &mut edits);
    edits.apply(source)
}

/// What was put in, taken out of a message.
pub fn undone(message: &str) -> String {
    message
        .replace(ADD, "+")
        .replace(CONCAT, "~")
        .replace(MODULO, "%")
        .replace(MULTIPLY, "*")
        .replace(COMPARE, "a comparison")
        .replace(EACH, "")
        .replace(OWN, "")
}

/// Steps within plain text, between two characters that no whitespace control can reach.
fn steps(source: &str, from: usize, to: usize, edits: &mut Edits) {
    let mut last = from;
    for (index, pair) in source.as_bytes()[from..to].windows(2).enumerate() {
        let at = from + index + 1;
        let is_inside = pair.iter().all(u8::is_ascii_graphic)
            && !pair.iter().any(|byte| b"{}%#-+".contains(byte));
        if at - last >= PLAIN_BYTES && is_inside {
            edits.insert(at, STEP);
            last = at;
        }
    }
}

/// `{% … %}`; what is between `raw` and `endraw` is no code.
fn statement(
    source: &str,
    start: usize,
    statements: &mut Statements,
    edits: &mut Edits,
) -> Option<usize> {
    let word = source[start + 2..]
        .trim_start_matches(['-', '+'])
        .trim_start();
    let is_raw = word
        .strip_prefix("raw")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    if !is_raw {
        return code(source, start, "%}", statements, edits);
    }
    let mut at = start + 2;
    loop {
        let open = at + source[at..].find("{%")?;
        let word = source[open + 2..]
            .trim_start_matches(['-', '+'])
            .trim_start();
        if word.starts_with("endraw") {
            return source[open..].find("%}").map(|end| open + end + 2);
        }
        at = open + 2;
    }
}

/// Rewrites what is between the delimiters, and returns where it ends. None if it does not.
fn code(
    source: &str,
    start: usize,
    close: &str,
    statements: &mut Statements,
    edits: &mut Edits,
) -> Option<usize> {
    let mut levels: Vec<Vec<Token>> = vec![Vec::new()];
    // Where the brackets that are open began, if they are literals.
    let mut literals: Vec<Option<usize>> = Vec::new();
    let mut bracketed = Vec::new();
    let mut at = start + 2;
    // The markers of whitespace control are no operators.
    at += usize::from(source[at..].starts_with(['-', '+']));
    let mut is_first = close == "%}";
    loop {
        let rest = &source[at..];
        let character = rest.chars().next()?;
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        if levels.len() == 1 {
            let marker = usize::from(rest.starts_with(['-', '+']));
            if rest[marker..].starts_with(close) {
                let (tokens, end) = (levels.last()?, at + marker + close.len());
                edits.expression(tokens, source);
                if close == "%}" {
                    let statement = Statement {
                        tokens,
                        bracketed: &bracketed,
                        end,
                        strip: if rest.starts_with('-') { "-" } else { "" },
                    };
                    statements.read(source, &statement, edits);
                }
                return Some(end);
            }
        }
        let end = at + length(rest)?;
        let mut kind = kind(&source[at..end], levels.last()?, source);
        if std::mem::take(&mut is_first) {
            kind = Kind::Separator;
        }
        let token = Token {
            kind,
            start: at,
            end,
        };
        match character {
            '(' | '[' | '{' => levels.push(Vec::new()),
            ')' | ']' | '}' => {
                bracketed = levels.pop()?;
                edits.expression(&bracketed, source);
                if let Some(start) = literals.pop()? {
                    edits.literal(start, end);
                }
                levels.last_mut()?.push(Token {
                    kind: Kind::Operand,
                    ..token
                });
            }
            _ => {
                statements.mention(&source[at..end]);
                if let Some(literal) = strings::rewritten(&source[at..end]) {
                    edits.put(at, Rank::Replacement, end - at, &literal);
                }
                levels.last_mut()?.push(token);
            }
        }
        if matches!(character, '(' | '[' | '{') {
            let outside = levels.len().checked_sub(2)?;
            let follows_operand = levels[outside]
                .last()
                .is_some_and(|token| token.kind == Kind::Operand);
            literals.push((character != '(' && !follows_operand).then_some(at));
            // The bracket belongs to the operand outside of it.
            levels[outside].push(Token {
                kind: Kind::Operand,
                ..token
            });
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_become_calls_and_everything_else_stays() {
        for (source, expected) in [
            ("{{ a + b }}", "{{ __add__(a , b) }}"),
            (
                "{{ a + b - c + d }}",
                "{{ __add__(__add__(a , b) - c , d) }}",
            ),
            (
                "{{ a + b * c % d }}",
                "{{ __add__(a , __mod__(__mul__(b , c) , d)) }}",
            ),
            (
                "{{ a ~ b ~ c + d }}",
                "{{ __add__(__concat__(a , b , c) , d) }}",
            ),
            (
                "{{ -a % b|f(1 + 2) }}",
                "{{ __mod__(-a , b|f(__add__(1 , 2))) }}",
            ),
            ("{{ '%s' % (a, b) }}", "{{ __mod__('%s' , (a, b)) }}"),
            (
                "{% if a % 2 == 0 and b + 1 %}",
                "{% if __mod__(a , 2) == 0 and __add__(b , 1) %}",
            ),
            (
                "{{ a < b + 1 and not c >= -d or x(e=f > 1) }}",
                "{{ __compare__(a , '<', __add__(b , 1)) and not __compare__(c , '>=', -d) or x(e=__compare__(f , '>', 1)) }}",
            ),
            (
                "{{ a < b == c }}{{ a in b }}{{ a == b }}",
                "{{ __compare__(a , '<', b , '==', c) }}{{ a in b }}{{ a == b }}",
            ),
            ("{{ 'a\\\nb' + c }}", "{{ __add__('ab'\n , c) }}"),
            (
                "{%- set x = a ~ 'b' -%}",
                "{%- set x = __own__(( __concat__(a , 'b'))) -%}",
            ),
            (
                "{{ x[1 + i].y + 'z' }}",
                "{{ __add__(x[__add__(1 , i)].y , 'z') }}",
            ),
            ("{{ {'a': 1 + 2} }}", "{{ __own__({'a': __add__(1 , 2)}) }}"),
            (
                "{{ [1][0] + x[0] + [[]] }}",
                "{{ __add__(__add__(__own__([1])[0] , x[0]) , __own__([__own__([])])) }}",
            ),
            (
                "{% for a in b + c, d if e %}",
                "{% for a in __each__(( __add__(b , c), d)) if e %}",
            ),
            (
                "{% macro m(a, b=a ~ 1) -%} x{% endmacro %}",
                "{% macro m(a, b= __later__) -%}{{''-}}{% if b is undefined %}{% set b = __own__(( __concat__(a , 1))) %}{% endif -%} x{% endmacro %}",
            ),
            (
                "{% macro m(a) %}{{ varargs }}{% endmacro -%} x",
                "{% macro m(a, varargs=(), kwargs={}) %}{{''}}{{ varargs }}{% endmacro -%}{% set m = __variadic__(m) -%} x",
            ),
            (
                "{% set a, b=[1], 2 %}",
                "{% set a, b= __own__((__own__([1]), 2)) %}",
            ),
            (
                "{{ a is not in b + c }}",
                "{{ __add__(a is not in b , c) }}",
            ),
            ("{{ 1e+3 + -1 }}", "{{ __add__(1e+3 , -1) }}"),
            (
                "{{ a - b }} + ~ % {# a + b #}",
                "{{ a - b }} + ~ % {# a + b #}",
            ),
            (
                "{% raw %}{{ a + b }}{% endraw %}",
                "{% raw %}{{ a + b }}{% endraw %}",
            ),
            ("{{+ a + b +}}", "{{+ __add__(a , b) +}}"),
            ("{{ a + ", "{{ a + "),
            (
                "{{ '%d%%' ~ \"a'b\" }}",
                "{{ __concat__('%d%%' , \"a'b\") }}",
            ),
        ] {
            assert_eq!(rewrite(source), expected, "{source}");
        }
    }

    #[test]
    fn long_text_takes_steps() {
        let text = "word ".repeat(200);
        assert_eq!(rewrite(&text).matches(STEP).count(), 3);
        assert_eq!(rewrite(&text).replace(STEP, ""), text);
    }
}
