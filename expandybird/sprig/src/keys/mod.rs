//! Keys, certificates and passwords. Random ones are made once for an instance, and kept.

mod certificate;
mod key;
mod password;
mod pem;

pub use certificate::FUNCTIONS as CERTIFICATES;
pub use password::FUNCTIONS as PASSWORDS;

use expandybird_gotemplate::value::{Function, Type};

use crate::made::once_slowly;
use key::Key;

/// The bits of an RSA key that nothing else is said about.
const BITS: usize = 4096;

/// Private keys.
pub const KEYS: &[Function] = &[Function::new("genPrivateKey", &[Type::String], |call| {
    let kind = call.string(0)?.to_str();
    if !["", "rsa", "ecdsa", "ed25519"].contains(&&*kind) {
        return Ok(format!("Unknown type {kind}").into());
    }
    let made = once_slowly(call, |random| {
        let key = match &*kind {
            "ecdsa" => Key::ecdsa(random),
            "ed25519" => Key::ed25519(random),
            _ => Key::rsa(random, BITS),
        };
        key?.to_pem()
    });
    Ok(made?.into())
})];
