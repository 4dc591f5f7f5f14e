//! Hashes of passwords, derived passwords and encrypted texts.

use aes::Aes256;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use bcrypt::Version;
use data_encoding::BASE64;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use ring::hmac;

use crate::encoding::decode;
use crate::made::{once, once_slowly, spend_slow};

/// Go's cost.
const COST: u32 = 10;
/// What bcrypt takes of a password.
const PASSWORD_BYTES: usize = 72;
const BLOCK: usize = 16;
const TWO: &[Type] = &[Type::String, Type::String];

/// Passwords.
pub const FUNCTIONS: &[Function] = &[
    Function::new(
        "bcrypt",
        &[Type::String],
        |call| Ok(hashed(call, 0)?.into()),
    ),
    Function::new("htpasswd", TWO, |call| {
        let user = call.string(0)?.to_str();
        match user.contains(':') {
            true => Ok(format!("invalid username: {user}").into()),
            false => Ok(format!("{user}:{}", hashed(call, 1)?).into()),
        }
    }),
    Function::new(
        "derivePassword",
        &[
            UINT32,
            Type::String,
            Type::String,
            Type::String,
            Type::String,
        ],
        derive,
    ),
    Function::new("encryptAES", TWO, encrypt),
    Function::new("decryptAES", TWO, decrypt),
];

const UINT32: Type = Type::Uint(expandybird_gotemplate::value::UintKind::Uint32);

fn hashed(call: &mut Call<'_>, index: usize) -> Result<String, Failure> {
    let password = call.string(index)?;
    if password.len() > PASSWORD_BYTES {
        return Ok(
            "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes"
                .to_owned(),
        );
    }
    once_slowly(call, |random| {
        let mut salt = [0; 16];
        random.fill(&mut salt);
        let hash = bcrypt::hash_with_salt(password, COST, salt);
        let hash = hash.map_err(|error| Failure::new(error.to_string()))?;
        Ok(hash.format_for_version(Version::TwoA))
    })
}

/// The forms of a derived password: each letter is a class of characters.
const FORMS: &[(&str, &str)] = &[
    ("maximum", "anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno"),
    (
        "long",
        "CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno \
         CvcvnoCvccCvcv CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno \
         CvccnoCvccCvcv CvccCvccnoCvcv CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno \
         CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno",
    ),
    ("medium", "CvcnoCvc CvcCvcno"),
    ("short", "Cvcn"),
    ("basic", "aaanaaan aannaaan aaannaaa"),
    ("pin", "nnnn"),
];

fn characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The password of a master password, a user, a site and a counter: the algorithm of Master Password.
fn derive(call: &mut Call<'_>) -> Result<Value, Failure> {
    let counter = match call.argument(0)? {
        Value::Uint(_, number) => u32::try_from(*number).unwrap_or_default(),
        _ => 0,
    };
    let kind = call.string(1)?.to_str();
    let Some((_, forms)) = FORMS.iter().find(|(name, _)| *name == kind) else {
        return Ok(format!("cannot find password template {kind}").into());
    };
    spend_slow(call)?;
    let (password, user, site) = (call.string(2)?, call.string(3)?, call.string(4)?);
    let invalid =
        |error: &dyn std::fmt::Display| Failure::new(format!("failed to derive password: {error}"));
    let params = scrypt::Params::new(15, 8, 2, 64).map_err(|error| invalid(&error))?;
    let mut key = [0; 64];
    scrypt::scrypt(password, &scoped(user, None), &params, &mut key)
        .map_err(|error| invalid(&error))?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let bytes = hmac::sign(&key, &scoped(site, Some(counter)));
    let mut bytes = bytes.as_ref().iter().map(|byte| usize::from(*byte));
    let forms: Vec<_> = forms.split(' ').collect();
    let form = forms.get(bytes.next().unwrap_or_default() % forms.len());
    let classes = form.copied().unwrap_or_default().bytes();
    let derived = classes.zip(bytes).filter_map(|(class, byte)| {
        let characters = characters(class);
        characters.get(byte % characters.len()).copied()
    });
    Ok(Value::string(derived.collect::<Vec<u8>>()))
}

/// The scope, the length of the name, the name, and the counter.
fn scoped(name: &[u8], counter: Option<u32>) -> Vec<u8> {
    let mut bytes = b"com.lyndir.masterpassword".to_vec();
    bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(name);
    bytes.extend(counter.into_iter().flat_map(u32::to_be_bytes));
    bytes
}

/// The first 32 bytes of a password, with zeros behind a shorter one.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(password) {
        *to = *from;
    }
    key
}

fn encrypt(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (password, text) = (call.string(0)?, call.string(1)?);
    if text.is_empty() {
        return Ok("".into());
    }
    call.budget().spend_string(text.len().saturating_mul(2))?;
    let made = once(call, |random| {
        let mut start = [0; BLOCK];
        random.fill(&mut start);
        let cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &start.into());
        let encrypted = cipher.encrypt_padded_vec::<Pkcs7>(text);
        Ok(BASE64.encode(&[&start[..], &encrypted].concat()))
    });
    Ok(made?.into())
}

fn decrypt(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (password, text) = (call.string(0)?, call.string(1)?);
    if text.is_empty() {
        return Ok("".into());
    }
    call.budget().spend_string(text.len())?;
    let bytes = decode::base64(text);
    let bytes =
        bytes.map_err(|at| Failure::new(format!("illegal base64 data at input byte {at}")))?;
    let cut = || {
        let capacity = text.len() / 4 * 3;
        Failure::new(format!(
            "runtime error: slice bounds out of range [:{BLOCK}] with capacity {capacity}"
        ))
    };
    let (start, encrypted) = bytes.split_first_chunk::<BLOCK>().ok_or_else(cut)?;
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), &(*start).into());
    let whole = || Failure::new("crypto/cipher: input not full blocks");
    let mut plain = cipher
        .decrypt_padded_vec::<NoPadding>(encrypted)
        .map_err(|_| whole())?;
    // Sprig believes the last byte.
    let padding = plain.last().copied().map(usize::from);
    let padding = padding.ok_or_else(|| Failure::new("runtime error: index out of range [-1]"))?;
    let Some(length) = plain.len().checked_sub(padding) else {
        let missing = padding.saturating_sub(plain.len());
        return Err(Failure::new(format!(
            "runtime error: slice bounds out of range [:-{missing}]"
        )));
    };
    plain.truncate(length);
    Ok(Value::string(plain))
}
