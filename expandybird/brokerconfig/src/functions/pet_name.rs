//! Names that people can remember: `fluffy-otter`. All words are fit for names of objects.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use expandybird_sprig::made::{Random, once};

const ADVERBS: [&str; 32] = [
    "badly", "boldly", "briefly", "calmly", "clearly", "daily", "early", "easily", "eagerly",
    "evenly", "firmly", "freely", "gently", "gladly", "highly", "hourly", "kindly", "lately",
    "loudly", "merely", "mildly", "mostly", "nearly", "openly", "partly", "quickly", "rarely",
    "safely", "slowly", "softly", "truly", "widely",
];
const ADJECTIVES: [&str; 48] = [
    "able", "amber", "bold", "brave", "bright", "brisk", "calm", "clever", "cosy", "crisp",
    "daring", "deep", "eager", "early", "fair", "fast", "fine", "fluffy", "fresh", "gentle",
    "glad", "golden", "grand", "happy", "honest", "humble", "jolly", "keen", "kind", "light",
    "lively", "loyal", "lucky", "mellow", "merry", "neat", "noble", "proud", "quick", "quiet",
    "rapid", "ready", "silver", "smart", "steady", "sunny", "warm", "wise",
];
const ANIMALS: [&str; 48] = [
    "badger", "bat", "bear", "beaver", "bison", "boar", "camel", "cat", "crane", "crow", "deer",
    "dog", "donkey", "dove", "duck", "eagle", "falcon", "ferret", "finch", "fox", "frog", "goat",
    "goose", "hare", "hawk", "heron", "horse", "ibis", "jackal", "lark", "lion", "lizard", "lynx",
    "mole", "moose", "mouse", "newt", "otter", "owl", "panda", "pony", "raven", "robin", "seal",
    "sparrow", "swan", "tiger", "wolf",
];
/// More words than a name of an object can have.
const WORDS: i64 = 100;

pub const FUNCTIONS: &[Function] = &[Function::new("generatePetName", &[Type::INT], pet_name)];

/// Adverbs, an adjective, an animal.
fn pet_name(call: &mut Call<'_>) -> Result<Value, Failure> {
    let words = call.int(0)?;
    if words <= 0 {
        return Err(Failure::new("petNames: minimum numbers of words is 1"));
    }
    if words > WORDS {
        let message = format!("petNames: maximum number of words is {WORDS}");
        return Err(Failure::new(message));
    }
    let made = once(call, |random| {
        let mut name = Vec::new();
        (2..words).for_each(|_| name.push(one_of(random, &ADVERBS)));
        if words > 1 {
            name.push(one_of(random, &ADJECTIVES));
        }
        name.push(one_of(random, &ANIMALS));
        Ok(name.join("-"))
    });
    Ok(made?.into())
}

fn one_of(random: &mut Random<'_>, words: &[&'static str]) -> &'static str {
    let at = usize::try_from(random.below(words.len() as u64)).unwrap_or_default();
    words.get(at).copied().unwrap_or_default()
}
