//! Arguments as Python takes them: by place or by name.

use minijinja::value::{Kwargs, Rest};
use minijinja::{Error, ErrorKind, Value};

/// An argument, if it was given.
#[derive(Debug, Clone, Default)]
pub struct Argument(pub Option<Value>);

/// The arguments with these names, in this order.
pub fn given<const N: usize>(
    names: [&str; N],
    by_place: Rest<Value>,
    by_name: &Kwargs,
) -> Result<[Argument; N], Error> {
    if by_place.0.len() > N {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let mut places = by_place.0.into_iter();
    let mut arguments = [const { Argument(None) }; N];
    for (argument, name) in arguments.iter_mut().zip(names) {
        let named: Option<Value> = by_name.get(name)?;
        *argument = Argument(places.next().or(named));
    }
    by_name.assert_all_used()?;
    Ok(arguments)
}

impl Argument {
    pub fn or(self, default: impl Into<Value>) -> Value {
        self.0.unwrap_or_else(|| default.into())
    }

    pub fn flag(self, default: bool) -> bool {
        self.0.map_or(default, |value| value.is_true())
    }

    /// A number of characters or items.
    pub fn whole(self) -> Result<Option<usize>, Error> {
        let value = self.0.filter(|value| !value.is_none());
        value.map(usize::try_from).transpose()
    }

    pub fn text(self) -> Result<Option<String>, Error> {
        let value = self.0.filter(|value| !value.is_none());
        value.map(|value| super::string(&value)).transpose()
    }
}
