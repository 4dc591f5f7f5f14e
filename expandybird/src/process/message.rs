//! The messages between the server and an expansion process.
//!
//! The server's messages are frames of JSON, like the worker's. The process is not trusted: the server only reads a
//! head of a few bytes, and each of its fields has few valid values.

use common::api::error::ErrorCode;
use common::server::Format;
use serde::{Deserialize, Serialize};

use super::note::Digest;
use crate::engine::jinja;
use crate::input::Bounds;
use crate::sandbox;

/// The largest answer: twice the largest request, because an answer contains the resources and their layout.
pub const ANSWER_BYTES: usize = 2 * common::model::limits::REQUEST_BYTES;

/// The settings of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The process id of the server: the process ends with it.
    pub server: i32,
    pub limits: Limits,
}

/// The limits of one expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub bounds: Bounds,
    pub jinja: jinja::Limits,
    pub python: sandbox::Limits,
    /// Bytes of memory that the process may write to, without its stack.
    pub memory_bytes: u64,
}

/// One expansion. The body follows the frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expand {
    pub request_id: String,
    pub format: Format,
    pub body_bytes: usize,
    /// The caller's inputs that have crashed processes and are not tried now.
    pub refused: Vec<Digest>,
}

/// The server's answer to [`Head::Python`]. `Granted` comes with the stream of a process for Python templates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    Granted,
    Refused { code: ErrorCode, message: String },
}

/// The messages of the process. An answer is followed by a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// The process waits for requests. `weak`: the kernel cannot fully confine it.
    Ready { weak: bool },
    /// The process requests a process for Python templates.
    Python,
    /// The Python process closed its stream: the answer is a `HowEnded`. `opened`: it had a template.
    PythonEnded { opened: bool },
    /// The body is an `ExpandResponse`, or the error with this code. `worn`: the process should be replaced.
    Answer {
        code: Option<ErrorCode>,
        bytes: usize,
        worn: bool,
    },
}

/// The size of a head in bytes.
pub const HEAD_BYTES: usize = 8;

const READY: u8 = 1;
const PYTHON: u8 = 2;
const PYTHON_ENDED: u8 = 3;
const ANSWER: u8 = 4;
/// The value for a missing code.
const NO_CODE: u8 = u8::MAX;

impl Head {
    /// Kind, flag, code, a zero, and the body's length (little-endian).
    pub fn encode(self) -> [u8; HEAD_BYTES] {
        let (kind, flag, code, bytes) = match self {
            Self::Ready { weak } => (READY, weak, NO_CODE, 0),
            Self::Python => (PYTHON, false, NO_CODE, 0),
            Self::PythonEnded { opened } => (PYTHON_ENDED, opened, NO_CODE, 0),
            Self::Answer { code, bytes, worn } => (ANSWER, worn, number(code), bytes),
        };
        let [a, b, c, d] = u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
        [kind, u8::from(flag), code, 0, a, b, c, d]
    }

    /// `None` for bytes that [`Self::encode`] never makes.
    pub fn decode(head: [u8; HEAD_BYTES]) -> Option<Self> {
        let [kind, flag, code, 0, a, b, c, d] = head else {
            return None;
        };
        let flag = match flag {
            0 => false,
            1 => true,
            _ => return None,
        };
        let bytes = u32::from_le_bytes([a, b, c, d]) as usize;
        let decoded = match (kind, code) {
            (READY, _) => Self::Ready { weak: flag },
            (PYTHON, _) => Self::Python,
            (PYTHON_ENDED, _) => Self::PythonEnded { opened: flag },
            (ANSWER, NO_CODE) if bytes <= ANSWER_BYTES => Self::Answer {
                code: None,
                bytes,
                worn: flag,
            },
            (ANSWER, code) if bytes <= ANSWER_BYTES => Self::Answer {
                code: Some(*ErrorCode::ALL.get(usize::from(code))?),
                bytes,
                worn: flag,
            },
            _ => return None,
        };
        (decoded.encode() == head).then_some(decoded)
    }
}

/// The index of a code in the table. Both sides are the same program.
fn number(code: Option<ErrorCode>) -> u8 {
    let place = code.and_then(|code| ErrorCode::ALL.iter().position(|&other| other == code));
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(NO_CODE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_code_fits_into_a_head() {
        assert!(ErrorCode::ALL.len() < usize::from(NO_CODE));
        for &code in ErrorCode::ALL {
            let head = Head::Answer {
                code: Some(code),
                bytes: ANSWER_BYTES,
                worn: true,
            };
            assert_eq!(Head::decode(head.encode()), Some(head));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_head_means_one_thing_or_nothing(kind in 0u8..6, rest in any::<[u8; 7]>()) {
            let mut head = [kind; HEAD_BYTES];
            head[1..].copy_from_slice(&rest);
            if let Some(decoded) = Head::decode(head) {
                prop_assert_eq!(decoded.encode(), head);
            }
        }
    }
}
