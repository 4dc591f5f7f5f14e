//! The one table of bounds for JSON.

/// What one JSON text may ask of its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub bytes: usize,
    /// Lists and objects within each other.
    pub depth: usize,
    /// Strings, numbers, `true`, `false`, `null`, lists, objects, and the names of fields.
    pub values: usize,
}

/// `serde_json` refuses 128 levels. With the same number our own error says what to do.
const DEPTH: usize = 127;

impl Limits {
    /// Bytes of memory that one value takes at worst, as measured with lists of one item within
    /// lists: each makes room for four. Ordinary objects take half of it.
    pub const BYTES_OF_A_VALUE: usize = 220;

    /// A request to a service. 64 MiB: a manifest of 50 MiB is the largest that the store must
    /// take, and JSON escapes add to it. A configuration expands to a million values at most
    /// ([`Self::TEMPLATE`]), and what is recorded of its objects comes beside them. The values take
    /// 310 MB at worst.
    pub const REQUEST: Self = Self {
        bytes: 64 * 1024 * 1024,
        depth: DEPTH,
        values: 1_400_000,
    };

    /// An answer of expandybird or resourcifier: what a configuration expands to with its layout,
    /// or what is reported of each object.
    pub const ANSWER: Self = Self {
        bytes: 128 * 1024 * 1024,
        depth: DEPTH,
        values: 2_000_000,
    };

    /// An answer of the manager. A manifest holds the configuration, what it expands to and the
    /// layout.
    pub const MANIFEST: Self = Self {
        bytes: 256 * 1024 * 1024,
        depth: DEPTH,
        values: 4_000_000,
    };

    /// An error: of a deployment of 10,000 resources that all failed it has 10,000 causes of some
    /// 20 values.
    pub const ERROR: Self = Self {
        bytes: 16 * 1024 * 1024,
        depth: DEPTH,
        values: 400_000,
    };

    /// A message of a process that runs a template: what the template returned. It becomes a part
    /// of a configuration, so it holds no more than one YAML text may.
    pub const TEMPLATE: Self = Self {
        bytes: 64 * 1024 * 1024,
        depth: DEPTH,
        values: 1_000_000,
    };
}
