//! The order of keys: letters after everything else, and digits as numbers.

use std::cmp::Ordering;

use expandybird_gotemplate::text::{is_digit, is_letter};

use super::Layout;

/// Sorts by [`compare`]. A merge sort by hand: the order is not transitive for all keys, and the sort of the standard
/// library may panic then.
pub fn sort<T>(mut items: Vec<(Vec<char>, T)>, layout: Layout) -> Vec<(Vec<char>, T)> {
    if items.len() < 2 {
        return items;
    }
    let right = sort(items.split_off(items.len() / 2), layout);
    let mut left = sort(items, layout).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some((first, _)), Some((second, _))) = (left.peek(), right.peek()) {
        let next = if compare(second, first, layout) == Ordering::Less {
            right.next()
        } else {
            left.next()
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

/// Which key comes first. In [`Layout::Pretty`], letters that follow a digit come before everything else.
fn compare(left: &[char], right: &[char], layout: Layout) -> Ordering {
    let differing = left
        .iter()
        .zip(right)
        .position(|(left, right)| left != right);
    let Some(at) = differing else {
        return left.len().cmp(&right.len());
    };
    let (Some(&first), Some(&second)) = (left.get(at), right.get(at)) else {
        return Ordering::Equal;
    };
    let before = at.checked_sub(1).and_then(|before| left.get(before));
    let letters_first = layout == Layout::Pretty && before.copied().is_some_and(is_digit);
    let letter = match letters_first {
        true => Ordering::Less,
        false => Ordering::Greater,
    };
    match (is_letter(first), is_letter(second)) {
        (true, true) => first.cmp(&second),
        (true, false) => letter,
        (false, true) => letter.reverse(),
        (false, false) => compare_numbers(left, right, at).then(first.cmp(&second)),
    }
}

/// Compares the digits from `at` on as numbers, then how many they are.
fn compare_numbers(left: &[char], right: &[char], at: usize) -> Ordering {
    let has_zero = left.get(at) == Some(&'0') || right.get(at) == Some(&'0');
    let before = left.get(..at).unwrap_or_default().iter().rev();
    // A zero within a number counts as a digit of it.
    let within_number = has_zero
        && before
            .take_while(|rune| is_digit(**rune))
            .any(|rune| *rune != '0');
    let start = i64::from(within_number);
    let (first, first_digits) = number(left, at, start);
    let (second, second_digits) = number(right, at, start);
    first.cmp(&second).then(first_digits.cmp(&second_digits))
}

fn number(text: &[char], at: usize, start: i64) -> (i64, usize) {
    let digits = text
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|rune| is_digit(**rune));
    digits.fold((start, 0), |(number, count), digit| {
        let value = i64::from(u32::from(*digit)) - i64::from(u32::from('0'));
        (number.wrapping_mul(10).wrapping_add(value), count + 1)
    })
}
