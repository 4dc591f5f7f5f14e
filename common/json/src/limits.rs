//! The one table of limits for JSON.

/// The limits of one JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub bytes: usize,
    /// How deep lists and objects may nest.
    pub depth: usize,
    /// Strings, numbers, `true`, `false`, `null`, lists, objects, and the names of fields.
    pub values: usize,
}

/// `serde_json` rejects 128 levels. With the same number our own error says what to do.
const DEPTH: usize = 127;

impl Limits {
    /// The maximum memory of one value in bytes, measured with lists of one item within lists: each reserves space for
    /// four. Ordinary objects need half of it.
    pub const BYTES_OF_A_VALUE: usize = 220;

    /// A request to a service. 64 MiB: the store must accept manifests of 50 MiB, and JSON escapes make them larger. A
    /// configuration expands to a million values at most ([`Self::TEMPLATE`]), and the records of its objects are
    /// added. The values take at most 310 MB.
    pub const REQUEST: Self = Self {
        bytes: 64 * 1024 * 1024,
        depth: DEPTH,
        values: 1_400_000,
    };

    /// An answer of expandybird or resourcifier: the expansion of a configuration with its layout, or a report on each
    /// object.
    pub const ANSWER: Self = Self {
        bytes: 128 * 1024 * 1024,
        depth: DEPTH,
        values: 2_000_000,
    };

    /// An answer of the manager. A manifest has the configuration, its expansion and the layout.
    pub const MANIFEST: Self = Self {
        bytes: 256 * 1024 * 1024,
        depth: DEPTH,
        values: 4_000_000,
    };

    /// An error. If all 10,000 resources of a deployment fail, it has 10,000 causes with about 20 values each.
    pub const ERROR: Self = Self {
        bytes: 16 * 1024 * 1024,
        depth: DEPTH,
        values: 400_000,
    };

    /// A message of a process that runs a template: the output of the template. It becomes a part of a configuration,
    /// so its limit is that of a YAML text.
    pub const TEMPLATE: Self = Self {
        bytes: 64 * 1024 * 1024,
        depth: DEPTH,
        values: 1_000_000,
    };
}
