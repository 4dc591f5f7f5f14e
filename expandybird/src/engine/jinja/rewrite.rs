//! Turns the operators `%`, `+` and `~` of a template into calls of [`super::operators`].
//!
//! Works on the text, for minijinja lets nobody at its syntax tree: only calls and commas are put
//! in, nothing is moved, so every line keeps its number. What it does not understand it leaves as
//! it is, and minijinja says what is wrong with it.
//!
//! ```text
//! {{ a + b * c % d }}   ─►   {{ __add__(a , __mod__(b * c , d)) }}
//! ```
//!
//! Literals of lists and maps, and what `set` assigns, are wrapped into a call that makes them a
//! template's own, to be changed in place.
//!
//! Long plain text gets an empty expression every few hundred bytes, so that a loop around it
//! takes as many steps as it writes.

use super::operators::{ADD, CONCAT, MODULO, OWN};

/// Plain text between two steps, in bytes: with two million steps, at most half a gigabyte.
const PLAIN_BYTES: usize = 256;
const STEP: &str = "{{''}}";

pub fn rewrite(source: &str) -> String {
    let mut edits = Edits::default();
    let mut at = 0;
    while let Some(found) = source[at..].find('{') {
        let start = at + found;
        let end = match source.as_bytes().get(start + 1) {
            Some(b'#') => source[start..].find("#}").map(|end| start + end + 2),
            Some(b'{') => code(source, start, "}}", &mut edits),
            Some(b'%') => statement(source, start, &mut edits),
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
fn statement(source: &str, start: usize, edits: &mut Edits) -> Option<usize> {
    let word = source[start + 2..]
        .trim_start_matches(['-', '+'])
        .trim_start();
    let is_raw = word
        .strip_prefix("raw")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    if !is_raw {
        return code(source, start, "%}", edits);
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A part of an operand.
    Operand,
    Plus,
    Minus,
    Tilde,
    Percent,
    /// `*`, `/` and `//`.
    Times,
    /// Ends an expression: keywords, comparisons, commas, brackets.
    Separator,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

impl Token {
    fn of(self, source: &str) -> &str {
        &source[self.start..self.end]
    }
}

/// Rewrites what is between the delimiters, and returns where it ends. None if it does not.
fn code(source: &str, start: usize, close: &str, edits: &mut Edits) -> Option<usize> {
    let mut levels: Vec<Vec<Token>> = vec![Vec::new()];
    // Where the brackets that are open began, if they are literals.
    let mut literals: Vec<Option<usize>> = Vec::new();
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
                let tokens = levels.last()?;
                if close == "%}" {
                    edits.assignment(source, tokens);
                }
                edits.expression(tokens);
                return Some(at + marker + close.len());
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
                edits.expression(&levels.pop()?);
                if let Some(start) = literals.pop()? {
                    edits.literal(start, end);
                }
                levels.last_mut()?.push(Token {
                    kind: Kind::Operand,
                    ..token
                });
            }
            _ => levels.last_mut()?.push(token),
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

/// How long the token is that the text begins with.
fn length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first == '\'' || first == '"' {
        let mut escaped = false;
        for (index, character) in text.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == first => return Some(index + 1),
                _ => {}
            }
        }
        return None;
    }
    if first.is_ascii_digit() {
        return Some(number_length(text));
    }
    if first.is_alphanumeric() || first == '_' {
        return Some(
            text.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(text.len()),
        );
    }
    let double = ["//", "**", "==", "!=", "<=", ">="]
        .iter()
        .any(|operator| text.starts_with(operator));
    Some(if double { 2 } else { first.len_utf8() })
}

/// `1`, `1_000`, `0x1f`, `1.5e+3`: a sign belongs to it only behind an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let digit_follows = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let is_exponent = matches!(bytes[at - 1], b'e' | b'E') && !text.starts_with("0x");
        match byte {
            b'.' if digit_follows => {}
            b'+' | b'-' if is_exponent && digit_follows => {}
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {}
            _ => break,
        }
        at += 1;
    }
    at
}

fn kind(token: &str, before: &[Token], source: &str) -> Kind {
    let last = before.last().map(|last| &source[last.start..last.end]);
    match token {
        "+" => Kind::Plus,
        "-" => Kind::Minus,
        "~" => Kind::Tilde,
        "%" => Kind::Percent,
        "*" | "/" | "//" => Kind::Times,
        "," | ":" | "=" | "==" | "!=" | "<" | ">" | "<=" | ">=" => Kind::Separator,
        // `a.in` is an attribute; `is in` and `is not` belong to a test.
        _ if last == Some(".") => Kind::Operand,
        "not" | "in" if last == Some("is") || last == Some("not") && is_test(before, source) => {
            Kind::Operand
        }
        "and" | "or" | "not" | "in" | "if" | "else" | "recursive" => Kind::Separator,
        _ => Kind::Operand,
    }
}

/// Whether what came before ends in `is not`.
fn is_test(before: &[Token], source: &str) -> bool {
    let [.., is, _] = before else {
        return false;
    };
    &source[is.start..is.end] == "is"
}

/// What is put in, by place.
#[derive(Debug, Default)]
struct Edits {
    list: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    at: usize,
    rank: Rank,
    /// How much is replaced, in bytes.
    replaced: usize,
    put_in: String,
}

/// What comes first where several edits have one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Assignment,
    Call,
    Literal,
    Replacement,
}

impl Edits {
    fn insert(&mut self, at: usize, text: &str) {
        self.put(at, Rank::Call, 0, text);
    }

    fn replace(&mut self, token: Token, text: &str) {
        self.put(token.start, Rank::Replacement, 1, text);
    }

    fn put(&mut self, at: usize, rank: Rank, replaced: usize, put_in: &str) {
        self.list.push(Edit {
            at,
            rank,
            replaced,
            put_in: put_in.to_owned(),
        });
    }

    /// `[…]` or `{…}` between two places.
    fn literal(&mut self, start: usize, end: usize) {
        self.put(start, Rank::Literal, 0, &format!("{OWN}("));
        self.insert(end, ")");
    }

    /// `set NAMES = VALUE`; the value may be a tuple without its brackets.
    fn assignment(&mut self, source: &str, tokens: &[Token]) {
        let mut tokens = tokens.iter();
        let is_set = tokens.next().is_some_and(|token| token.of(source) == "set");
        let equals = tokens.find(|token| token.of(source) == "=");
        if let (true, Some(equals), Some(last)) = (is_set, equals, tokens.last()) {
            self.put(equals.end, Rank::Assignment, 0, &format!("{OWN}(("));
            self.insert(last.end, "))");
        }
    }

    /// One level of brackets: expressions between separators.
    fn expression(&mut self, tokens: &[Token]) {
        self.drop_signs(tokens);
        for part in tokens.split(|token| token.kind == Kind::Separator) {
            let terms = split(part, &[Kind::Plus, Kind::Minus]);
            self.sum(&terms);
        }
    }

    /// A `+` before an operand does nothing, and minijinja has none.
    fn drop_signs(&mut self, tokens: &[Token]) {
        for (index, token) in tokens.iter().enumerate() {
            let is_sign = index == 0 || tokens[index - 1].kind != Kind::Operand;
            if token.kind == Kind::Plus && is_sign {
                self.replace(*token, " ");
            }
        }
    }

    /// Terms between `+` and `-`, from the left.
    fn sum(&mut self, terms: &[(Option<Token>, &[Token])]) {
        let Some(start) = terms
            .first()
            .and_then(|(_, term)| term.first())
            .map(|token| token.start)
        else {
            return;
        };
        for (operator, term) in terms.iter().skip(1).rev() {
            if let (Some(operator), Some(last)) = (
                operator.filter(|token| token.kind == Kind::Plus),
                term.last(),
            ) {
                self.call(ADD, start, operator, last.end);
            }
        }
        for (_, term) in terms {
            self.concatenation(&split(term, &[Kind::Tilde]));
        }
    }

    fn concatenation(&mut self, parts: &[(Option<Token>, &[Token])]) {
        let first = parts.first().and_then(|(_, part)| part.first());
        let last = parts.last().and_then(|(_, part)| part.last());
        if let (Some(first), Some(last), true) = (first, last, parts.len() > 1) {
            self.insert(first.start, &format!("{CONCAT}("));
            for operator in parts.iter().filter_map(|(operator, _)| *operator) {
                self.replace(operator, ",");
            }
            self.insert(last.end, ")");
        }
        for (_, part) in parts {
            self.product(&split(part, &[Kind::Percent, Kind::Times]));
        }
    }

    fn product(&mut self, factors: &[(Option<Token>, &[Token])]) {
        let Some(start) = factors
            .first()
            .and_then(|(_, factor)| factor.first())
            .map(|token| token.start)
        else {
            return;
        };
        for (operator, factor) in factors.iter().skip(1).rev() {
            if let (Some(operator), Some(last)) = (
                operator.filter(|token| token.kind == Kind::Percent),
                factor.last(),
            ) {
                self.call(MODULO, start, operator, last.end);
            }
        }
    }

    fn call(&mut self, function: &str, start: usize, operator: Token, end: usize) {
        self.insert(start, &format!("{function}("));
        self.replace(operator, ",");
        self.insert(end, ")");
    }

    /// Outer calls were put in first, and stay first where they begin at the same place.
    fn apply(mut self, source: &str) -> String {
        if self.list.is_empty() {
            return source.to_owned();
        }
        self.list.sort_by_key(|edit| (edit.at, edit.rank));
        let mut text = String::with_capacity(source.len() + 16 * self.list.len());
        let mut from = 0;
        for edit in self.list {
            text.push_str(&source[from..edit.at]);
            text.push_str(&edit.put_in);
            from = edit.at + edit.replaced;
        }
        text.push_str(&source[from..]);
        text
    }
}

/// Cut at operators that stand between operands; a sign before an operand is a part of it.
fn split<'t>(tokens: &'t [Token], operators: &[Kind]) -> Vec<(Option<Token>, &'t [Token])> {
    let mut parts = Vec::new();
    let mut operator = None;
    let mut from = 0;
    for (index, token) in tokens.iter().enumerate() {
        let is_binary = index > 0 && tokens[index - 1].kind == Kind::Operand;
        if is_binary && operators.contains(&token.kind) {
            parts.push((operator, &tokens[from..index]));
            operator = Some(*token);
            from = index + 1;
        }
    }
    parts.push((operator, &tokens[from..]));
    parts
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
                "{{ __add__(a , __mod__(b * c , d)) }}",
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
                "{%- set x = a ~ 'b' -%}",
                "{%- set x =__own__(( __concat__(a , 'b'))) -%}",
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
                "{% set a, b=[1], 2 %}",
                "{% set a, b=__own__((__own__([1]), 2)) %}",
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
