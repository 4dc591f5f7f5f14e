//! `urlParse` and `urlJoin`, as Go's `net/url` reads and writes addresses.
//!
//! Not the crate `url`: it follows the rules of browsers, which change and refuse other texts than Go's.

use data_encoding::HEXUPPER;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::write_quoted;
use expandybird_gotemplate::value::{Call, Function, Map, Type, Value};

/// Addresses.
pub const FUNCTIONS: &[Function] = &[
    Function::new("urlParse", &[Type::String], |call| {
        let text = call.string(0)?;
        call.budget().spend_string(text.len().saturating_mul(3))?;
        let url = Url::parse(text);
        let url = url.map_err(|fault| Failure::new(format!("unable to parse url: {fault}")))?;
        let map = Map::default();
        let host = Value::string(url.host.clone());
        map.insert("scheme", Value::string(url.scheme));
        map.insert("hostname", Value::string(hostname(&url.host)));
        map.insert("host", host);
        map.insert("path", Value::string(url.path));
        map.insert("query", Value::string(url.query));
        map.insert("opaque", Value::string(url.opaque));
        map.insert("fragment", Value::string(url.fragment));
        map.insert("userinfo", Value::string(url.user.unwrap_or_default()));
        Ok(map.into())
    }),
    Function::new("urlJoin", &[Type::MAP], join),
];

/// The parts of an address: any bytes.
#[derive(Debug, Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    /// As it is written.
    user: Option<Vec<u8>>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    has_query: bool,
    fragment: Vec<u8>,
}

/// What a part of an address may contain as it stands.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    User,
    Host,
    Path,
    Fragment,
}

impl Url {
    /// Go's error names the text without its fragment, unless that is at fault.
    fn parse(text: &[u8]) -> Result<Self, String> {
        let at_fault = |text| move |fault| format!("parse {}: {fault}", quoted(text));
        let (rest, fragment) = cut(text, b'#');
        let mut url = Self::without_fragment(rest).map_err(at_fault(rest))?;
        let fragment = decode(fragment.unwrap_or_default(), Part::Fragment);
        url.fragment = fragment.map_err(at_fault(text))?;
        Ok(url)
    }

    fn without_fragment(text: &[u8]) -> Result<Self, String> {
        if text.iter().any(u8::is_ascii_control) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut url = Self::default();
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = cut(rest, b'?');
        url.query = query.unwrap_or_default().to_vec();
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_authority =
            rest.starts_with(b"//") && (!url.scheme.is_empty() || !rest.starts_with(b"///"));
        let path = match rest.get(2..).filter(|_| has_authority) {
            None => rest,
            Some(rest) => {
                let end = rest.iter().position(|byte| *byte == b'/');
                let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
                url.take_authority(authority)?;
                path
            }
        };
        url.path = decode(path, Part::Path)?;
        Ok(url)
    }

    fn take_authority(&mut self, authority: &[u8]) -> Result<(), String> {
        let at = authority.iter().rposition(|byte| *byte == b'@');
        let (user, host) = match at {
            Some(at) => (
                authority.get(..at),
                authority.get(at + 1..).unwrap_or_default(),
            ),
            None => (None, authority),
        };
        self.host = parse_host(host)?;
        let Some(user) = user else {
            return Ok(());
        };
        let is_valid =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
        if !user.iter().all(is_valid) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = cut(user, b':');
        let mut written = encode(&decode(name, Part::User)?, Part::User);
        if let Some(password) = password {
            written.push(b':');
            written.extend(encode(&decode(password, Part::User)?, Part::User));
        }
        self.user = Some(written);
        Ok(())
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend(&self.scheme);
            out.push(b':');
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(&mut out);
        } else {
            out.extend(&self.opaque);
        }
        if self.has_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(encode(&self.fragment, Part::Fragment));
        }
        out
    }

    fn write_hierarchy(&self, out: &mut Vec<u8>) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
            out.extend(b"//");
        }
        if let Some(user) = &self.user {
            out.extend(user);
            out.push(b'@');
        }
        out.extend(encode(&self.host, Part::Host));
        let path = match &*self.path {
            b"*" => self.path.clone(),
            path => encode(path, Part::Path),
        };
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            out.push(b'/');
        }
        if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
            out.extend(b"./");
        }
        out.extend(path);
    }
}

/// Go's `%q`.
fn quoted(text: &[u8]) -> String {
    let mut out = Vec::new();
    write_quoted(&mut out, text, false);
    String::from_utf8_lossy(&out).into_owned()
}

/// The parts before and after the first such byte.
fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let mut parts = text.splitn(2, |byte| *byte == separator);
    (parts.next().unwrap_or_default(), parts.next())
}

fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => {
                let (scheme, rest) = text.split_at(at);
                return Ok((scheme, rest.get(1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((b"", text))
}

fn parse_host(host: &[u8]) -> Result<Vec<u8>, String> {
    let bracket = host.iter().rposition(|byte| *byte == b'[');
    if bracket.is_some_and(|at| at > 0) {
        return Err("invalid IP-literal".to_owned());
    }
    if host.starts_with(b"[") {
        let end = host.iter().rposition(|byte| *byte == b']');
        let end = end.ok_or("missing ']' in host")?;
        check_port(host.get(end + 1..).unwrap_or_default())?;
    } else if let Some(colon) = host.iter().rposition(|byte| *byte == b':') {
        check_port(host.get(colon..).unwrap_or_default())?;
    }
    decode(host, Part::Host)
}

fn check_port(port: &[u8]) -> Result<(), String> {
    let is_port = match port.split_first() {
        None => true,
        Some((colon, digits)) => *colon == b':' && digits.iter().all(u8::is_ascii_digit),
    };
    match is_port {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quoted(port))),
    }
}

/// The host without its port and without brackets.
fn hostname(host: &[u8]) -> Vec<u8> {
    if let Some(inner) = host.strip_prefix(b"[") {
        let end = inner.iter().position(|byte| *byte == b']');
        return inner
            .get(..end.unwrap_or(inner.len()))
            .unwrap_or(inner)
            .to_vec();
    }
    cut(host, b':').0.to_vec()
}

fn must_encode(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    match part {
        Part::Host => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
        Part::Path => !b"$&+,/:;=@".contains(&byte),
        Part::User => !b"$&+,;=".contains(&byte),
        Part::Fragment => !b"$&+,/:;=?@!()*".contains(&byte),
    }
}

fn encode(text: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if must_encode(*byte, part) {
            out.push(b'%');
            out.extend(HEXUPPER.encode(&[*byte]).into_bytes());
        } else {
            out.push(*byte);
        }
    }
    out
}

fn decode(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'%' {
            if part == Part::Host && *byte < 0x80 && must_encode(*byte, part) {
                let found = quoted(&[*byte]);
                return Err(format!("invalid character {found} in host name"));
            }
            out.push(*byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2).map(<[u8]>::to_ascii_uppercase);
        let decoded = digits.and_then(|digits| HEXUPPER.decode(&digits).ok());
        let decoded = decoded.filter(|bytes| {
            // Only a zone of an address and letters beyond ASCII are written like this.
            let is_high = bytes.first().is_some_and(|byte| *byte >= 0x80);
            part != Part::Host || is_high || after.starts_with(b"25")
        });
        let Some(decoded) = decoded else {
            let escape = rest.get(..3).unwrap_or(rest);
            return Err(format!("invalid URL escape {}", quoted(escape)));
        };
        out.extend(decoded);
        rest = after.get(2..).unwrap_or_default();
    }
    Ok(out)
}

fn join(call: &mut Call<'_>) -> Result<Value, Failure> {
    let map = call.map(0)?;
    let field = |name: &str| match map.get(name.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.to_vec()),
        Some(other) => {
            let kind = other.kind_text();
            Err(Failure::new(format!(
                "unable to parse {name} key, must be of type string, but {kind} found"
            )))
        }
    };
    let mut url = Url {
        scheme: field("scheme")?,
        host: field("host")?,
        path: field("path")?,
        query: field("query")?,
        opaque: field("opaque")?,
        fragment: field("fragment")?,
        ..Url::default()
    };
    let user = field("userinfo")?;
    if !user.is_empty() {
        let text = [b"proto://", &*user, b"@host"].concat();
        let parsed = Url::parse(&text)
            .map_err(|fault| Failure::new(format!("unable to parse userinfo in dict: {fault}")))?;
        url.user = parsed.user;
    }
    let written = url.write();
    call.budget().spend_string(written.len())?;
    Ok(Value::string(written))
}
