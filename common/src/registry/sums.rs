//! Lists of files with their SHA-256, as `sha256sum` writes and checks them.

use std::fmt::Write as _;

use super::FilePath;
use super::path::is_of_git;
use crate::canonical::digest_bytes;

/// The file name of such a list. A list does not contain itself.
pub const FILE: &str = "SHA256SUMS";
/// The ending of a minisign signature of the list.
pub const MINISIG: &str = ".minisig";
/// The ending of a signature by `cosign sign-blob` or `openssl dgst -sign`.
pub const SIG: &str = ".sig";

const DIGEST_CHARS: usize = 64;

/// `<digest>  <path>`, or ` *` between them for files read as bytes. At most `limit` files.
pub fn parse(text: &str, limit: usize) -> Result<Vec<(FilePath, String)>, String> {
    let mut files = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let fault = |what: &str| format!("line {}: {what}", number + 1);
        if files.len() == limit {
            return Err(fault(&format!("more than {limit} files")));
        }
        let (digest, path) = line
            .split_once(' ')
            .and_then(|(digest, rest)| Some((digest, rest.strip_prefix([' ', '*'])?)))
            .filter(|(digest, _)| {
                digest.len() == DIGEST_CHARS && digest.bytes().all(|b| b.is_ascii_hexdigit())
            })
            .ok_or_else(|| fault("no line of sha256sum"))?;
        let path = path.strip_prefix("./").unwrap_or(path);
        // A list of a whole checkout contains them.
        if path.split('/').any(is_of_git) {
            continue;
        }
        let path = FilePath::listed(path).map_err(|error| fault(&error.to_string()))?;
        files.push((path, digest.to_ascii_lowercase()));
    }
    Ok(files)
}

/// The list of some files, in their order.
pub fn write<'a>(files: impl IntoIterator<Item = (&'a FilePath, &'a [u8])>) -> String {
    let mut list = String::new();
    for (path, content) in files {
        let digest = hex(content);
        // Writing into a text does not fail.
        let _ = writeln!(list, "{digest}  {path}");
    }
    list
}

/// The SHA-256 of a content, as in lists.
pub fn hex(content: &[u8]) -> String {
    let digest = digest_bytes(content).to_string();
    digest.trim_start_matches("sha256:").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 3;

    #[test]
    fn a_list_is_what_sha256sum_writes() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let text = format!(
            "{digest}  ./a/v1/a.py\n{digest} *b c.txt\n{digest}  ./.git/HEAD\n{digest}  ./a/.helmignore\n"
        );
        let files = parse(&text, LIMIT).unwrap();
        let paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["a/v1/a.py", "b c.txt", "a/.helmignore"]);
        for bad in [
            "abc  a",
            &format!("{digest} a"),
            &format!("{digest}  ../a"),
            &format!("{digest}  /etc/passwd"),
            &format!("{digest}  a/../../b"),
            "<html>",
        ] {
            assert!(parse(bad, LIMIT).unwrap_err().contains("line 1"), "{bad}");
        }
        let long = format!("{digest}  a\n").repeat(LIMIT + 1);
        assert!(parse(&long, LIMIT).unwrap_err().contains("more than"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let path = FilePath::parse("a/v1/a.py").unwrap();
        let list = write([(&path, &b""[..])]);
        assert_eq!(parse(&list, LIMIT).unwrap(), [(path, hex(b""))]);
    }
}
