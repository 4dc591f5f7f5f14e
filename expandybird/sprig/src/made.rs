//! Values that a template makes up: random texts, keys, times. Each is made once, and taken from the host afterwards.
//!
//! The caller of a run gives a [`Host`] to the session. A value is found again by the names of the templates that run, the
//! function, its arguments, and its number among equal calls.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Value};
use jiff::Timestamp;
use rsa::rand_core::{CryptoRng, Error, RngCore};
use sha2::{Digest, Sha256};

/// Keys and slow hashes of one run.
const SLOW_VALUES: u32 = 20;
/// Values of one run. The manifest of the deployment has to hold them.
const VALUES: u32 = 10_000;
/// Characters of a name, at most.
const NAME_LENGTH: usize = 120;
/// Random bytes that are taken from the host at once.
const BLOCK: usize = 32;

/// What the caller gives: the values of earlier runs, random bytes, and the time.
pub trait Values {
    /// The value that was made under this name before.
    fn kept(&self, name: &str) -> Option<String>;

    /// The next random bytes of this name. The same ones for the same input.
    fn random(&mut self, name: &str, bytes: &mut [u8]);

    /// The time of this run.
    fn time(&self) -> Timestamp;

    /// A value was used, made now or before.
    fn used(&mut self, name: &str, value: &str, secret: bool);
}

/// The host of a session: [`expandybird_gotemplate::Session::new`] takes it.
pub struct Host {
    values: Box<dyn Values>,
    /// Equal calls so far, by their name.
    calls: HashMap<String, u32>,
    made: u32,
    slow: u32,
    now: Option<Timestamp>,
}

impl Host {
    #[must_use]
    pub fn new(values: Box<dyn Values>) -> Self {
        Self {
            values,
            calls: HashMap::new(),
            made: 0,
            slow: 0,
            now: None,
        }
    }

    /// The time that the instance keeps: that of its first run.
    fn now(&mut self) -> Timestamp {
        if let Some(now) = self.now {
            return now;
        }
        let kept = self.values.kept(NOW).and_then(|text| text.parse().ok());
        let now = kept.unwrap_or_else(|| self.values.time());
        self.values.used(NOW, &now.to_string(), false);
        *self.now.insert(now)
    }
}

/// The name of the time.
const NOW: &str = "now";

/// The time, as `now` returns it.
pub fn now(call: &mut Call<'_>) -> Result<Timestamp, Failure> {
    Ok(host(call)?.now())
}

/// The value of this call: the one that was made before, or else what `make` makes of random bytes.
pub fn once(
    call: &mut Call<'_>,
    make: impl FnOnce(&mut Random<'_>) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let name = name(call);
    let host = host(call)?;
    host.made += 1;
    if host.made > VALUES {
        return Err(Failure::new(format!(
            "more than {VALUES} random values in one run"
        )));
    }
    let equal = host.calls.entry(name.clone()).or_default();
    *equal += 1;
    let name = match *equal {
        1 => name,
        number => format!("{name}#{number}"),
    };
    let value = match host.values.kept(&name) {
        Some(kept) => kept,
        None => make(&mut Random::new(host.values.as_mut(), &name))?,
    };
    host.values.used(&name, &value, true);
    Ok(value)
}

/// [`once`] for a value that takes much time to make: a run may make a few.
pub fn once_slowly(
    call: &mut Call<'_>,
    make: impl FnOnce(&mut Random<'_>) -> Result<String, Failure>,
) -> Result<String, Failure> {
    spend_slow(call)?;
    once(call, make)
}

/// Counts a value that takes much time to make.
pub fn spend_slow(call: &mut Call<'_>) -> Result<(), Failure> {
    let slow = &mut host(call)?.slow;
    *slow += 1;
    match *slow > SLOW_VALUES {
        false => Ok(()),
        true => Err(Failure::new(format!(
            "more than {SLOW_VALUES} keys, certificates and hashes of passwords in one run"
        ))),
    }
}

fn host<'c>(call: &'c mut Call<'_>) -> Result<&'c mut Host, Failure> {
    let missing = || Failure::new("this run has neither a clock nor random numbers");
    call.host().ok_or_else(missing)
}

/// For example `secret.yaml:randAlphaNum(16)`. Other arguments than integers may be secret, and are hashed.
fn name(call: &mut Call<'_>) -> String {
    let arguments = call.arguments().iter().map(|argument| match argument {
        Value::Int(_, number) => number.to_string(),
        other => digest(format!("{other:?}").as_bytes()),
    });
    let arguments: Vec<_> = arguments.collect();
    let call_text = format!("{}({})", call.name(), arguments.join(" "));
    let running = call.runtime().running();
    let chain = running.join(">");
    let name = format!("{chain}:{call_text}");
    match name.chars().count() > NAME_LENGTH {
        false => name,
        true => {
            let last = running.last().map_or("", |last| last);
            let tail: String = last.chars().rev().take(40).collect();
            let tail: String = tail.chars().rev().collect();
            let call_text: String = call_text.chars().take(40).collect();
            format!("{}:{tail}:{call_text}", digest(name.as_bytes()))
        }
    }
}

/// Twelve hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    let digest = HEXLOWER.encode(&Sha256::digest(bytes));
    digest.chars().take(12).collect()
}

/// Random numbers of one value.
pub struct Random<'a> {
    values: &'a mut dyn Values,
    name: &'a str,
    block: [u8; BLOCK],
    used: usize,
}

impl<'a> Random<'a> {
    fn new(values: &'a mut dyn Values, name: &'a str) -> Self {
        Self {
            values,
            name,
            block: [0; BLOCK],
            used: BLOCK,
        }
    }

    pub fn time(&self) -> Timestamp {
        self.values.time()
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == BLOCK {
                self.values.random(self.name, &mut self.block);
                self.used = 0;
            }
            // The index is below the length.
            *byte = self.block.get(self.used).copied().unwrap_or_default();
            self.used += 1;
        }
    }

    /// Every number below `bound`, which is not 0, with the same probability.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Numbers at the top would make small results more probable.
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let number = u64::from_le_bytes(bytes);
            if number < fair {
                return number % bound;
            }
        }
    }

    /// One of these bytes.
    pub fn of(&mut self, alphabet: &[u8]) -> u8 {
        let at = self.below(alphabet.len() as u64);
        let at = usize::try_from(at).unwrap_or_default();
        alphabet.get(at).copied().unwrap_or_default()
    }
}

/// As the makers of keys take them.
impl RngCore for Random<'_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.fill(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill(bytes);
        Ok(())
    }
}

impl CryptoRng for Random<'_> {}
