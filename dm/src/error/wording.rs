//! The words of the command line for what services call by the names of the API.

const WORDS: [(&str, &str); 5] = [
    (
        "repeat it with allowDeletes=true",
        "repeat it with --allow-deletes",
    ),
    (
        "set the resource's conflictPolicy to TAKE or YIELD",
        "pass --conflict-policy take or yield",
    ),
    (
        "let the request create it (createNamespace)",
        "pass --create-namespace",
    ),
    (
        "keep what was deployed with locked=true",
        "keep what was deployed with --locked",
    ),
    ("without locked=true", "without --locked"),
];

/// The text with flags in the place of parameters.
pub fn with_flags(text: &str) -> String {
    let replace = |text: String, (theirs, ours): &(&str, &str)| text.replace(theirs, ours);
    WORDS.iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_as_flags() {
        let text =
            "this would delete 4 objects; if that is meant, repeat it with allowDeletes=true";
        let expected =
            "this would delete 4 objects; if that is meant, repeat it with --allow-deletes";
        assert_eq!(with_flags(text), expected);
    }
}
