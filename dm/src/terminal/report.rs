//! A failure as printed on standard error: what is wrong, where, why, and what to do next.

use std::collections::HashMap;

use common::api::error::{ErrorBody, Location};
use common::redact::REDACTED;
use common::yaml;

use crate::error::{Failure, Sources, with_flags};
use crate::terminal::text;

/// The depth of causes to print.
const MAX_DEPTH: usize = 6;
/// The number of causes to print for one error.
const MAX_CAUSES: usize = 50;

pub fn report(failure: &Failure) -> String {
    let message = failure.to_string();
    let message = match failure.body() {
        Some(body) => without_first(&message, &body.causes),
        None => &message,
    };
    let message = text::lines(&with_flags(message));
    let mut shown = format!("error: {}\n", message.trim_end());
    if let Some(body) = failure.body() {
        let nothing = Sources::default();
        let sources = failure.sources().unwrap_or(&nothing);
        // The lines of the files would show a redacted value.
        let quotes = !is_hiding(body);
        details(&mut shown, body, (sources, quotes), 0);
        if !body.request_id.is_empty() {
            shown.push_str(&format!("  request {}\n", text::line(&body.request_id)));
        }
    }
    if let Some(hint) = failure.hint() {
        shown.push_str(&format!("hint: {hint}\n"));
    }
    shown
}

/// The message without its first cause at the end, which is shown below it with the others.
fn without_first<'m>(message: &'m str, causes: &[ErrorBody]) -> &'m str {
    let mut without = causes.iter().filter_map(|cause| {
        message
            .strip_suffix(cause.message.as_str())?
            .strip_suffix("; the first: ")
    });
    without.next().unwrap_or(message)
}

fn is_hiding(body: &ErrorBody) -> bool {
    body.message.contains(REDACTED) || body.causes.iter().any(is_hiding)
}

/// The flag of `sources` says whether their lines may be quoted.
fn details(shown: &mut String, body: &ErrorBody, sources: (&Sources, bool), depth: usize) {
    if let Some(location) = &body.location {
        let quote = sources.1 && !body.message.contains('\n');
        if let Some(place) = place(location, sources.0, quote) {
            indented(shown, &place, depth + 1);
        }
    }
    if depth == MAX_DEPTH {
        return;
    }
    let causes = distinct(&body.causes);
    for (cause, others) in causes.iter().take(MAX_CAUSES) {
        let message = with_flags(cause.message.trim_end());
        let same = match others.as_slice() {
            [] => String::new(),
            others => format!("\n  the same for {}", others.join(", ")),
        };
        let line = format!("- {}", text::lines(&format!("{message}{same}")));
        indented(shown, &line, depth + 1);
        details(shown, cause, sources, depth + 1);
    }
    if causes.len() > MAX_CAUSES {
        let line = format!("… and {} more", causes.len() - MAX_CAUSES);
        indented(shown, &line, depth + 1);
    }
}

/// Each different cause once, with the names of the other resources that have it.
fn distinct(causes: &[ErrorBody]) -> Vec<(&ErrorBody, Vec<&str>)> {
    let mut found: Vec<(&ErrorBody, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for cause in causes {
        let name = cause
            .location
            .as_ref()
            .and_then(|place| place.resource.as_deref());
        let Some(name) = name.filter(|_| cause.causes.is_empty()) else {
            found.push((cause, Vec::new()));
            continue;
        };
        let place = *places
            .entry(without_name(&cause.message, name))
            .or_insert(found.len());
        match found.get_mut(place) {
            Some((_, others)) => others.push(name),
            None => found.push((cause, Vec::new())),
        }
    }
    found
}

/// The message without the name of its resource, and without the object that it names before the first colon.
fn without_name(message: &str, name: &str) -> String {
    let (object, reason) = match message.strip_prefix("resource ") {
        Some(rest) => rest.split_once("): ").unwrap_or(("", rest)),
        None => ("", message),
    };
    let reason = reason.replace(&format!("\"{name}\""), "");
    // Its namespace and name, as the API server repeats them.
    match object.rsplit_once(' ') {
        Some((_, object)) => reason.replace(&format!("({object};"), "("),
        None => reason,
    }
}

fn indented(shown: &mut String, lines: &str, depth: usize) {
    for line in lines.lines() {
        shown.push_str(&format!("{}{line}\n", "  ".repeat(depth)));
    }
}

/// The place, if there is one to speak of, and where the file is a local one, the line with a caret.
fn place(location: &Location, sources: &Sources, quote: bool) -> Option<String> {
    let file = location.file.as_deref();
    let found = file.and_then(|file| sources.find(file, location.line));
    let known = Location {
        file: found
            .map(|(source, _)| source.shown.clone())
            .or_else(|| location.file.clone()),
        line: found.map_or(location.line, |(_, line)| line),
        ..location.clone()
    };
    let resource = location
        .resource
        .as_ref()
        .map(|name| format!("resource {name}"));
    // The root is where nothing more is known.
    let path = location.path.clone().filter(|path| path != "$");
    let parts: Vec<String> = [Some(known.to_string()), resource, path]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        return None;
    }
    let mut shown = format!("at {}", text::line(&parts.join(", ")));
    if let (Some((source, Some(line))), true) = (found, quote) {
        let at = yaml::Location {
            line: line as usize,
            column: location.column.unwrap_or(1).max(1) as usize,
        };
        shown.push_str(&format!(
            "\n{}",
            text::lines(&yaml::excerpt(&source.content, at))
        ));
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{CommandError, hint_for};
    use common::api::error::ErrorCode;

    fn sources() -> Sources {
        let mut sources = Sources::default();
        sources.add(
            vec!["web.yaml".to_owned(), "web".to_owned()],
            "deploys/web.yaml",
            "resources:\n- type: Pod\n",
        );
        sources
    }

    #[derive(Debug, thiserror::Error)]
    #[error("deploying web: {body}")]
    struct Refused {
        body: ErrorBody,
        sources: Sources,
    }

    impl CommandError for Refused {
        fn body(&self) -> Option<&ErrorBody> {
            Some(&self.body)
        }

        fn sources(&self) -> Option<&Sources> {
            Some(&self.sources)
        }

        fn hint(&self) -> Option<String> {
            hint_for(self.body.code).map(str::to_owned)
        }
    }

    fn refused(body: ErrorBody) -> Failure {
        let sources = sources();
        Refused { body, sources }.into()
    }

    #[test]
    fn a_fault_in_a_local_file_is_shown_with_its_line() {
        let place = Location {
            file: Some("web".to_owned()),
            line: Some(2),
            column: Some(3),
            path: Some("$.resources[0]".to_owned()),
            ..Location::default()
        };
        let body = ErrorBody::new(
            ErrorCode::InvalidConfiguration,
            "Resource does not have a name.",
        )
        .at(place);
        insta::assert_snapshot!(report(&refused(body)));
    }

    #[test]
    fn a_fault_in_one_of_several_files_is_shown_in_that_file() {
        let mut sources = Sources::default();
        for (shown, content, first_line) in [
            ("k8s/a.yaml", "a: 1\n", 3),
            ("k8s/b.yaml", "b: 1\nc: 2\n", 6),
        ] {
            sources.add_part(Vec::new(), shown, content, first_line);
        }
        sources.name_configuration("k8s");
        let place_of = |line| {
            let location = Location {
                file: Some("k8s".to_owned()),
                line: Some(line),
                ..Location::default()
            };
            place(&location, &sources, true).unwrap()
        };
        assert!(
            place_of(3).starts_with("at k8s/a.yaml:1\n1 | a: 1"),
            "{}",
            place_of(3)
        );
        assert!(
            place_of(7).starts_with("at k8s/b.yaml:2\n2 | c: 2"),
            "{}",
            place_of(7)
        );
    }

    #[test]
    fn a_place_that_names_nothing_is_not_told() {
        let body =
            ErrorBody::new(ErrorCode::TemplateNotFound, "no such version").at(Location::default());
        assert!(!report(&refused(body)).contains("  at"));
    }

    #[test]
    fn the_same_cause_of_several_resources_is_told_once() {
        let cause = |name: &str, reason: &str| {
            let text = format!("resource {name} (Pod default/{name}): {reason}");
            ErrorBody::new(ErrorCode::ResourcesFailed, text).at(Location {
                resource: Some(name.to_owned()),
                ..Location::default()
            })
        };
        let causes = [
            cause("a", "quota exceeded"),
            cause("b", "quota exceeded"),
            cause("c", "no image"),
            cause("d", "quota exceeded"),
            cause("e", "no patch (default/e; v1): no such field"),
            cause("f", "no patch (default/f; v1): no such field"),
        ];
        let message = format!("6 of 6 resources failed; the first: {}", causes[0].message);
        let body = ErrorBody::new(ErrorCode::ResourcesFailed, message);
        let shown = report(&refused(body.caused_by(causes)));
        assert_eq!(shown.matches("quota exceeded").count(), 1, "{shown}");
        assert!(!shown.contains("the first"), "{shown}");
        assert!(shown.contains("the same for b, d"), "{shown}");
        assert_eq!(shown.matches("no such field").count(), 1, "{shown}");
        assert!(shown.contains("no image"), "{shown}");
    }

    #[test]
    fn causes_are_told_below_and_nothing_obeys_the_terminal() {
        let cause = ErrorBody::new(
            ErrorCode::ResourcesFailed,
            "port 99999 is too large\u{1b}[2J",
        )
        .at(Location {
            resource: Some("bad".to_owned()),
            ..Location::default()
        });
        let mut body = ErrorBody::new(ErrorCode::ResourcesFailed, "1 of 2 resources failed")
            .caused_by([cause]);
        body.request_id = "0193".to_owned();
        insta::assert_snapshot!(report(&refused(body)));
    }
}
