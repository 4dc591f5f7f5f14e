//! Converts JSON to Python and back.
//!
//! Every copy is fresh. A value that is not JSON is rejected with its location, so that the template's author can find
//! it. Numbers keep their value or fail.

use expandybird_protocol::frame::MAX_PAYLOAD;
use expandybird_protocol::session::MAX_RESULT_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDate, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTime, PyTuple,
};
use serde_json::{Map, Number, Value};

/// Why an object is not a valid result.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error("{place}: {reason}")]
    NotJson { place: String, reason: String },
    #[error("the result is over the limit of {limit} bytes")]
    TooLarge { limit: usize },
    #[error(transparent)]
    Raised(#[from] PyErr),
}

/// A fresh Python object.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => number_to_python(py, number)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(map) => dict(py, map)?.into_any(),
    })
}

/// A fresh dict, in the map's order.
pub fn dict<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, item) in map {
        dict.set_item(key, to_python(py, item)?)?;
    }
    Ok(dict)
}

fn number_to_python<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(signed) = number.as_i64() {
        return Ok(signed.into_pyobject(py)?.into_any());
    }
    if let Some(unsigned) = number.as_u64() {
        return Ok(unsigned.into_pyobject(py)?.into_any());
    }
    Ok(number.as_f64().into_pyobject(py)?.into_any())
}

/// The limits of a result.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// About its bytes as JSON.
    pub text_bytes: usize,
    /// What its values take in this process.
    pub memory_bytes: usize,
}

/// The JSON of a Python object.
pub fn from_python(object: &Bound<'_, PyAny>, bounds: Bounds) -> Result<Value, ResultError> {
    let mut reader = Reader {
        limit: bounds.text_bytes,
        left: bounds,
        values: VALUES,
        place: Vec::new(),
    };
    reader.value(object)
}

/// A text within the bounds.
pub fn text(object: &Bound<'_, PyString>, bounds: Bounds) -> Result<String, ResultError> {
    match from_python(object.as_any(), bounds)? {
        Value::String(text) => Ok(text),
        _ => Err(ResultError::TooLarge {
            limit: bounds.text_bytes,
        }),
    }
}

/// What a frame can hold, beside its own fields.
const VALUES: usize = MAX_PAYLOAD.values - 100;

/// What the allocator adds to a block of memory.
const BLOCK_BYTES: usize = 16;
/// An entry of a map: the key, its hash, the value, and two places in the table.
const ENTRY_BYTES: usize =
    size_of::<String>() + size_of::<Value>() + 3 * size_of::<usize>() + BLOCK_BYTES;
/// The least table of a map.
const TABLE_BYTES: usize = 64;

struct Reader {
    limit: usize,
    left: Bounds,
    values: usize,
    place: Vec<String>,
}

impl Reader {
    fn value(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ResultError> {
        // The size of a value beside its text: a comma, quotes.
        self.spend(4)?;
        self.count()?;
        if self.place.len() > MAX_RESULT_DEPTH {
            let reason =
                format!("nested deeper than {MAX_RESULT_DEPTH} levels, or contains itself");
            return Err(self.not_json(reason));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return self.text(text).map(Value::String);
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            return self.dict(dict);
        }
        if object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok() {
            return self.list(object);
        }
        self.scalar(object)
    }

    fn scalar(&self, object: &Bound<'_, PyAny>) -> Result<Value, ResultError> {
        if object.cast::<PyNone>().is_ok() {
            return Ok(Value::Null);
        }
        if let Ok(flag) = object.cast::<PyBool>() {
            return Ok(Value::Bool(flag.is_true()));
        }
        if object.cast::<PyInt>().is_ok() {
            return self.int(object);
        }
        if let Ok(float) = object.cast::<PyFloat>() {
            return self.float(float.value());
        }
        if object.cast::<PyDate>().is_ok() || object.cast::<PyTime>().is_ok() {
            return Ok(Value::String(object.call_method0("isoformat")?.extract()?));
        }
        let reason = format!("a value of type {} cannot be in a result", class(object));
        Err(self.not_json(reason))
    }

    fn int(&self, object: &Bound<'_, PyAny>) -> Result<Value, ResultError> {
        if let Ok(signed) = object.extract::<i64>() {
            return Ok(signed.into());
        }
        match object.extract::<u64>() {
            Ok(unsigned) => Ok(unsigned.into()),
            Err(_) => Err(self.not_json("an integer beyond 64 bits".to_owned())),
        }
    }

    fn float(&self, value: f64) -> Result<Value, ResultError> {
        match Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.not_json(format!("{value} is not a JSON number"))),
        }
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Result<String, ResultError> {
        let Ok(text) = text.to_str() else {
            return Err(self.not_json("a text that is not valid Unicode".to_owned()));
        };
        self.spend(text.len())?;
        self.occupy(BLOCK_BYTES + text.len())?;
        Ok(text.to_owned())
    }

    fn list(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ResultError> {
        self.occupy(BLOCK_BYTES)?;
        let mut items = Vec::new();
        for (index, item) in object.try_iter()?.enumerate() {
            self.occupy(size_of::<Value>())?;
            self.place.push(format!("[{index}]"));
            items.push(self.value(&item?)?);
            self.place.pop();
        }
        // Its length is known only now: the iterator may be the template's own.
        items.shrink_to_fit();
        Ok(Value::Array(items))
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>) -> Result<Value, ResultError> {
        self.occupy(TABLE_BYTES)?;
        let length = dict.len();
        if length > self.left.memory_bytes / ENTRY_BYTES {
            return Err(self.too_large());
        }
        let mut map = Map::with_capacity(length);
        // By its method: an OrderedDict has its own order.
        for pair in dict.call_method0("items")?.try_iter()? {
            let (key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            let key = self.key(&key)?;
            self.count()?;
            self.occupy(ENTRY_BYTES)?;
            self.place.push(format!(".{key}"));
            let item = self.value(&item)?;
            self.place.pop();
            map.insert(key, item);
        }
        Ok(Value::Object(map))
    }

    /// Keys become text as in `json.dumps`.
    fn key(&mut self, key: &Bound<'_, PyAny>) -> Result<String, ResultError> {
        if let Ok(text) = key.cast::<PyString>() {
            return self.text(text);
        }
        match self.scalar(key) {
            Ok(Value::String(_)) | Err(ResultError::NotJson { .. }) => {
                let reason = format!("a key of type {} cannot be in a result", class(key));
                Err(self.not_json(reason))
            }
            Ok(plain) => Ok(plain.to_string()),
            Err(error) => Err(error),
        }
    }

    /// Bytes of JSON.
    fn spend(&mut self, bytes: usize) -> Result<(), ResultError> {
        let left = self.left.text_bytes.checked_sub(bytes);
        self.left.text_bytes = left.ok_or_else(|| self.too_large())?;
        Ok(())
    }

    /// Bytes of memory.
    fn occupy(&mut self, bytes: usize) -> Result<(), ResultError> {
        let left = self.left.memory_bytes.checked_sub(bytes);
        self.left.memory_bytes = left.ok_or_else(|| self.too_large())?;
        Ok(())
    }

    /// A value, or the name of a field.
    fn count(&mut self) -> Result<(), ResultError> {
        let left = self.values.checked_sub(1);
        self.values = left.ok_or_else(|| self.too_large())?;
        Ok(())
    }

    fn too_large(&self) -> ResultError {
        ResultError::TooLarge { limit: self.limit }
    }

    fn not_json(&self, reason: String) -> ResultError {
        let place = match self.place.is_empty() {
            true => "the result".to_owned(),
            // A path at the depth limit is long, and its end is useless.
            false => self
                .place
                .iter()
                .take(12)
                .map(String::as_str)
                .collect::<String>(),
        };
        ResultError::NotJson {
            place: place.trim_start_matches('.').to_owned(),
            reason,
        }
    }
}

fn class(object: &Bound<'_, PyAny>) -> String {
    match object.get_type().name() {
        Ok(name) => name.to_string(),
        Err(_) => "unknown".to_owned(),
    }
}
