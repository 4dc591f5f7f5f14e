//! Files of a chart, as names and bytes.

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path within the chart.
    pub name: String,
    /// What is in it.
    pub data: Vec<u8>,
}

impl File {
    /// A file, without a byte order mark.
    pub fn new(name: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        let mut data = data.into();
        if data.starts_with(BYTE_ORDER_MARK) {
            data.drain(..BYTE_ORDER_MARK.len());
        }
        let name = name.into();
        Self { name, data }
    }
}
