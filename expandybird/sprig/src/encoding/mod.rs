//! Base 64 and base 32, and sums of texts.

pub mod decode;

use data_encoding::{BASE32, BASE64, Encoding, HEXLOWER};
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

const TEXT: &[Type] = &[Type::String];

/// Encodings and sums.
pub const FUNCTIONS: &[Function] = &[
    Function::new("b64enc", TEXT, |call| encode(call, &BASE64)),
    Function::new("b64dec", TEXT, |call| {
        decoded(call, "base64", decode::base64)
    }),
    Function::new("b32enc", TEXT, |call| encode(call, &BASE32)),
    Function::new("b32dec", TEXT, |call| {
        decoded(call, "base32", decode::base32)
    }),
    Function::new("sha1sum", TEXT, sum::<Sha1>),
    Function::new("sha256sum", TEXT, sum::<Sha256>),
    Function::new("sha512sum", TEXT, sum::<Sha512>),
    Function::new("adler32sum", TEXT, |call| {
        let text = call.string(0)?;
        call.budget().spend_string(text.len())?;
        Ok(adler2::adler32_slice(text).to_string().into())
    }),
];

fn encode(call: &mut Call<'_>, encoding: &Encoding) -> Result<Value, Failure> {
    let text = call.string(0)?;
    call.budget()
        .spend_string(encoding.encode_len(text.len()))?;
    Ok(encoding.encode(text).into())
}

/// What was encoded; Go's error text if it cannot be decoded.
fn decoded(
    call: &mut Call<'_>,
    name: &str,
    decode: fn(&[u8]) -> Result<Vec<u8>, usize>,
) -> Result<Value, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    match decode(text) {
        Ok(bytes) => Ok(Value::string(bytes)),
        Err(position) => Ok(format!("illegal {name} data at input byte {position}").into()),
    }
}

fn sum<D: Digest>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    Ok(HEXLOWER.encode(&D::digest(&**text)).into())
}
