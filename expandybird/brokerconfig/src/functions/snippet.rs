//! Templates within templates.

use std::sync::Arc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, List, Numbers, Type, Value};

use crate::render::rendered;
use crate::run;

pub const FUNCTIONS: &[Function] = &[
    Function::new("snippet", &[Type::String], |call| {
        snippet(call, &Value::Nil)
    }),
    Function::new("snippetArray", &[Type::String, Type::Any], |call| {
        let items = match call.argument(1)? {
            Value::Nil => return Ok(Value::List(List::any(Vec::new()))),
            Value::List(list) => list.items(),
            other => {
                let found = other.type_text();
                let message = format!("snippetArray needs a list, and this is a {found}");
                return Err(Failure::new(message));
            }
        };
        let most = call.budget().limits().list_items;
        if items.len() > most {
            return Err(Failure::new(format!("the list has more than {most} items")));
        }
        let items = items.iter().map(|item| snippet(call, item));
        Ok(Value::List(List::any(items.collect::<Result<_, _>>()?)))
    }),
];

fn snippet(call: &mut Call<'_>, dot: &Value) -> Result<Value, Failure> {
    let name = call.string(0)?.to_str();
    let run = run::of(call)?;
    let snippets = Arc::clone(&run.snippets);
    let missing = || Failure::new(format!("unable to locate template for {name}"));
    let (template, pointer) = snippets.snippet(&name).ok_or_else(missing)?;
    run.enter()?;
    let value = rendered(template, pointer, dot, call)?;
    run::of(call)?.leave();
    Ok(Value::from_json(&value, Numbers::Floats))
}
