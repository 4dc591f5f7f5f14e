//! The request's query. An error names the parameter that cannot be read.

use std::borrow::Cow;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use crate::api::error::ErrorCode;
use crate::server::answer::error::ApiError;

/// The extractor.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(read(request.query_string()).map(Query))
    }
}

/// Parameters that may be repeated. What reads them takes several values with commas between.
const REPEATABLE: [&str; 1] = ["regenerate"];

fn read<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let joined = joined(query);
    let pairs = form_urlencoded::parse(joined.as_bytes());
    let pairs = serde_urlencoded::Deserializer::new(pairs);
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let parameter = match error.path().iter().next() {
            Some(_) => format!("the query's parameter {:?}", error.path().to_string()),
            None => "the query".to_owned(),
        };
        let reason = error.into_inner();
        let message = format!("{parameter} cannot be read: {reason}");
        ApiError::new(ErrorCode::InvalidRequest, message)
    })
}

/// The query with each parameter that may be repeated only once.
fn joined(query: &str) -> Cow<'_, str> {
    let mut joined = Cow::Borrowed(query);
    for name in REPEATABLE.into_iter().filter(|name| query.contains(*name)) {
        let (values, others): (Vec<_>, Vec<_>) =
            form_urlencoded::parse(query.as_bytes()).partition(|(key, _)| key == name);
        if values.is_empty() {
            continue;
        }
        let values: Vec<_> = values.into_iter().map(|(_, value)| value).collect();
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs
            .extend_pairs(others)
            .append_pair(name, &values.join(","));
        joined = Cow::Owned(pairs.finish());
    }
    joined
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        #[expect(dead_code, reason = "it is read, not looked at")]
        limit: Option<u32>,
    }

    fn refusal(query: &str) -> String {
        read::<Asked>(query).unwrap_err().0.message
    }

    #[test]
    fn what_is_wrong_is_told_with_the_parameters_name() {
        assert_eq!(
            refusal("limit=ten"),
            r#"the query's parameter "limit" cannot be read: invalid digit found in string"#
        );
        assert_eq!(
            refusal("limit=1&limit=2"),
            "the query cannot be read: duplicate field `limit`"
        );
        assert_eq!(
            refusal("limits=1"),
            r#"the query's parameter "limits" cannot be read: unknown field `limits`, expected `limit`"#
        );
        assert!(read::<Asked>("limit=1").is_ok());
    }

    #[test]
    fn a_parameter_that_may_be_repeated_has_all_its_values() {
        #[derive(Debug, Deserialize)]
        struct Asked {
            regenerate: String,
            limit: u32,
        }
        let read = read::<Asked>("regenerate=%24.a&limit=1&regenerate=b").unwrap();
        assert_eq!((read.regenerate.as_str(), read.limit), ("$.a,b", 1));
    }
}
