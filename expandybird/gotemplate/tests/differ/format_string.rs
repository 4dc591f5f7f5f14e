//! Random formats for `printf`.

use fastrand::Rng;

/// A format of a few directives, as it stands in double quotes.
pub fn derive(random: &mut Rng) -> String {
    (0..random.usize(1..4)).map(|_| directive(random)).collect()
}

fn directive(random: &mut Rng) -> String {
    let mut text = String::from(["", "x", " é", "100%% "][random.usize(..4)]);
    text.push('%');
    for flag in ["+", "-", "#", "0", " "] {
        if random.u8(..6) == 0 {
            text.push_str(flag);
        }
    }
    if random.u8(..12) == 0 {
        text.push_str(["[1]", "[2]", "[3]", "[0]", "[9]", "[x]", "["][random.usize(..7)]);
    }
    text.push_str(["", "", "", "5", "12", "*"][random.usize(..6)]);
    text.push_str(["", "", "", ".3", ".0", ".", ".20", ".*"][random.usize(..8)]);
    let verb = random.choice("vvvdsqxXobcUeEfFgGtTwOz!%é".chars().collect::<Vec<_>>());
    if random.u8(..30) > 0 {
        text.extend(verb);
    }
    text
}
