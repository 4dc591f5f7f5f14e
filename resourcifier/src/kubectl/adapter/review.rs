//! Reviews: virtual objects that ask the API server for the user of a token, and what a user may do.

use std::collections::BTreeMap;

use common::api::review::{AccessVerdict, ResourceAttributes, TokenReview, TokenVerdict};
use common::model::{Identity, identity::Parts};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kubectl::error::KubectlError;
use crate::kubectl::proxy::Answer;
use crate::kubectl::proxy::request::Request;

/// An answer is small, but the groups of a user may be many.
const VERDICT_BYTES: usize = 1024 * 1024;
const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// The user of a token.
pub fn of_token(review: &TokenReview) -> Result<Request, KubectlError> {
    let spec = json!({"token": review.token.reveal(), "audiences": review.audiences});
    request(AUTHENTICATION, "TokenReview", "tokenreviews", spec)
}

/// What another user may do.
pub fn of_access(
    identity: &Identity,
    access: &ResourceAttributes,
) -> Result<Request, KubectlError> {
    let spec = json!({
        "user": identity.user(), "uid": identity.uid(), "groups": identity.groups(), "extra": identity.extra(),
        "resourceAttributes": attributes(access),
    });
    request(
        AUTHORIZATION,
        "SubjectAccessReview",
        "subjectaccessreviews",
        spec,
    )
}

/// What the user of this request may do.
pub fn of_own_access(access: &ResourceAttributes) -> Result<Request, KubectlError> {
    let spec = json!({"resourceAttributes": attributes(access)});
    request(
        AUTHORIZATION,
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        spec,
    )
}

fn attributes(access: &ResourceAttributes) -> Value {
    json!({
        "verb": access.verb, "group": access.group, "resource": access.resource,
        "subresource": access.subresource, "namespace": access.namespace, "name": access.name,
    })
}

fn request(
    group: &str,
    kind: &'static str,
    resource: &str,
    spec: Value,
) -> Result<Request, KubectlError> {
    let body = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "spec": spec});
    let mut request = Request::new(kind, Method::POST, &["apis", group, "v1", resource])?
        .body("application/json", &body);
    request.limit = VERDICT_BYTES;
    Ok(request)
}

#[derive(Debug, Default, Deserialize)]
struct Reviewed<S> {
    status: S,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenStatus {
    authenticated: bool,
    user: User,
    audiences: Vec<String>,
    error: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct User {
    username: String,
    uid: String,
    groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
}

/// An API server without support for audiences returns none: such a token is meant for the API server itself.
pub fn token_verdict(review: &TokenReview, answer: &Answer) -> Result<TokenVerdict, KubectlError> {
    let Reviewed { status } = read::<TokenStatus>("TokenReview", answer)?;
    let refused = |reason: String| TokenVerdict {
        authenticated: false,
        identity: None,
        error: Some(reason),
    };
    if !status.authenticated {
        return Ok(refused(match status.error.is_empty() {
            true => "the cluster does not know the token".to_owned(),
            false => status.error,
        }));
    }
    let is_asked = |audience: &String| review.audiences.contains(audience);
    if !review.audiences.is_empty() && !status.audiences.iter().any(is_asked) {
        return Ok(refused(format!(
            "the token is not meant for {}",
            review.audiences.join(" or ")
        )));
    }
    let user = status.user;
    let identity = Identity::parse(Parts {
        user: user.username,
        uid: Some(user.uid).filter(|uid| !uid.is_empty()),
        groups: user.groups,
        extra: user.extra,
    });
    Ok(match identity {
        Ok(identity) => TokenVerdict {
            authenticated: true,
            identity: Some(identity),
            error: None,
        },
        Err(error) => refused(error.to_string()),
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AccessStatus {
    allowed: bool,
    reason: String,
    #[serde(rename = "evaluationError")]
    evaluation_error: String,
}

pub fn access_verdict(answer: &Answer) -> Result<AccessVerdict, KubectlError> {
    let Reviewed { status } = read::<AccessStatus>("access review", answer)?;
    let said = [status.reason, status.evaluation_error];
    let reason: Vec<String> = said.into_iter().filter(|text| !text.is_empty()).collect();
    Ok(AccessVerdict {
        allowed: status.allowed,
        reason: (!reason.is_empty()).then(|| reason.join("; ")),
    })
}

fn read<S: for<'de> Deserialize<'de>>(
    call: &'static str,
    answer: &Answer,
) -> Result<Reviewed<S>, KubectlError> {
    serde_json::from_slice(answer).map_err(|error| KubectlError::Malformed {
        call,
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::model::Secret;

    fn verdict(audiences: &[&str], status: Value) -> TokenVerdict {
        let review = TokenReview {
            token: Secret::new("t"),
            audiences: audiences.iter().map(|&one| one.to_owned()).collect(),
        };
        let answer = Answer::from(json!({"status": status}).to_string());
        token_verdict(&review, &answer).unwrap()
    }

    #[test]
    fn a_token_that_is_known_has_an_owner() {
        let user = json!({"username": "jane", "uid": "", "groups": ["dev"]});
        let reported = verdict(&[], json!({"authenticated": true, "user": user}));
        let identity = reported.identity.unwrap();
        assert_eq!((identity.user(), identity.uid()), ("jane", None));
    }

    #[test]
    fn a_token_that_is_meant_for_others_is_refused() {
        let user = json!({"username": "jane"});
        let known =
            |audiences: Value| json!({"authenticated": true, "user": user, "audiences": audiences});
        assert!(verdict(&["dm"], known(json!(["dm"]))).authenticated);
        for others in [json!(["other"]), json!([])] {
            let reported = verdict(&["dm"], known(others));
            assert!(
                !reported.authenticated && reported.identity.is_none(),
                "{reported:?}"
            );
        }
    }

    #[test]
    fn a_token_that_is_not_known_says_why() {
        let reported = verdict(&[], json!({"authenticated": false, "error": "expired"}));
        assert_eq!(reported.error.as_deref(), Some("expired"));
        assert!(verdict(&[], json!({})).error.is_some());
    }

    #[test]
    fn a_name_that_no_header_could_carry_is_nobody() {
        let user = json!({"username": "jane\r\nx: y"});
        let reported = verdict(&[], json!({"authenticated": true, "user": user}));
        assert!(!reported.authenticated, "{reported:?}");
    }
}
