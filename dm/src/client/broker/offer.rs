//! Services and plans of a catalog, by their names or ids.

use serde_json::{Map, Value};

use super::command::Offered;
use crate::error::Failure;

/// The ids of a service and its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub service: String,
    pub plan: String,
}

/// The plan that the flags mean. What they leave out must be without a choice.
pub fn chosen(catalog: &Map<String, Value>, asked: &Offered) -> Result<Offer, Failure> {
    let services = list(catalog.get("services"));
    let with_plan = |service: &&Value| {
        let named = asked.plan.as_deref();
        named.is_none_or(|plan| list(service.get("plans")).iter().any(|one| is(one, plan)))
    };
    let fitting: Vec<&Value> = match &asked.offering {
        Some(name) => services.iter().filter(|one| is(one, name)).collect(),
        None => services.iter().filter(with_plan).collect(),
    };
    let service = only(&fitting, SERVICE, asked.offering.as_deref(), services)?;
    let plans = list(service.get("plans"));
    let fitting: Vec<&Value> = match &asked.plan {
        Some(name) => plans.iter().filter(|one| is(one, name)).collect(),
        None => plans.iter().collect(),
    };
    let plan = only(&fitting, PLAN, asked.plan.as_deref(), plans)?;
    Ok(Offer {
        service: text(service, "id").to_owned(),
        plan: text(plan, "id").to_owned(),
    })
}

/// The id of a plan of a service.
pub fn plan_of(catalog: &Map<String, Value>, service: &str, plan: &str) -> Result<String, Failure> {
    let asked = Offered {
        offering: Some(service.to_owned()),
        plan: Some(plan.to_owned()),
    };
    chosen(catalog, &asked).map(|offer| offer.plan)
}

/// What is named, and the flag that names it.
type Named = (&'static str, &'static str);
const SERVICE: Named = ("service", "--offering");
const PLAN: Named = ("plan", "--plan");

fn only<'v>(
    fitting: &[&'v Value],
    (what, flag): Named,
    asked: Option<&str>,
    all: &[Value],
) -> Result<&'v Value, Failure> {
    let names: Vec<_> = all.iter().map(|one| text(one, "name")).collect();
    let names = names.join(", ");
    match (fitting, asked) {
        ([one], _) => Ok(one),
        ([], Some(asked)) => Err(Failure::not_found(format!(
            "the broker has no {what} {asked:?}; it has {names}"
        ))),
        ([], None) => Err(Failure::not_found(format!("the broker has no {what}"))),
        _ => Err(Failure::usage(format!(
            "name the {what} with {flag}: {names}"
        ))),
    }
}

fn is(entry: &Value, name: &str) -> bool {
    text(entry, "name") == name || text(entry, "id") == name
}

pub fn text<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub fn list(value: Option<&Value>) -> &[Value] {
    let list = value.and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn catalog() -> Map<String, Value> {
        let plans = |names: &[&str]| -> Vec<Value> {
            let plan = |name: &&str| json!({"name": name, "id": format!("{name}-id")});
            names.iter().map(plan).collect()
        };
        let services = json!([
            {"name": "db", "id": "db-id", "plans": plans(&["small", "large"])},
            {"name": "web", "id": "web-id", "plans": plans(&["tiny"])},
        ]);
        Map::from_iter([("services".to_owned(), services)])
    }

    #[test]
    fn a_plan_is_found_by_names_and_ids_and_where_there_is_no_choice() {
        let found = |service: Option<&str>, plan: Option<&str>| {
            let asked = Offered {
                offering: service.map(str::to_owned),
                plan: plan.map(str::to_owned),
            };
            chosen(&catalog(), &asked)
                .map(|offer| format!("{} {}", offer.service, offer.plan))
                .map_err(|error| error.to_string())
        };
        for (service, plan, expected) in [
            (Some("db"), Some("small"), Ok("db-id small-id")),
            (Some("db-id"), Some("large-id"), Ok("db-id large-id")),
            (None, Some("tiny"), Ok("web-id tiny-id")),
            (Some("web"), None, Ok("web-id tiny-id")),
            (Some("db"), None, Err("--plan: small, large")),
            (None, None, Err("--offering: db, web")),
            (Some("x"), None, Err("no service \"x\"; it has db, web")),
            (Some("db"), Some("x"), Err("no plan \"x\"")),
        ] {
            match (found(service, plan), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, _) => panic!("{service:?} {plan:?}: {found:?}"),
            }
        }
    }
}
