//! Bounds on what a Template may ask for.

/// Parameters of one Template. The largest known has 54.
pub const PARAMETERS: usize = 5_000;
/// Bytes that substitution may add to a result: as much as a request may have.
pub const RESULT_BYTES: usize = 64 * 1024 * 1024;
/// Maps and lists within each other, in a processed object: `serde_json` reads 127, and a result wraps each object.
pub const DEPTH: usize = 100;
/// Characters that one group of a generator's expression makes.
pub const GENERATED_CHARS: usize = 255;
/// Bytes of a generator's expression. 10,000 groups of 255 characters would be 2.5 MB of random text.
pub const EXPRESSION_BYTES: usize = 4_096;
/// Faults that one answer lists.
pub const FAULTS: usize = 10_000;
