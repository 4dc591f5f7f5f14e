//! Bounds on what callers may send, in one place, each with its reason.

use crate::json::Limits;

/// A request body. What its JSON may hold is in the same row.
pub const REQUEST_BYTES: usize = Limits::REQUEST.bytes;
/// The longest time that a caller may give an operation: a day.
pub const OPERATION_MS: u64 = 24 * 60 * 60 * 1_000;
/// Resources of one expanded configuration: the largest real ones have hundreds; beyond this a mistake is likelier than a wish.
pub const RESOURCES: usize = 10_000;
/// Imported files of one request.
pub const IMPORTS: usize = 1_000;
/// Characters of a deployment's description: a paragraph, not a document.
pub const DESCRIPTION_CHARS: usize = 4_096;
/// Labels of a deployment.
pub const LABELS: usize = 64;
/// Characters of a label's key or value.
pub const LABEL_CHARS: usize = 253;
/// Items of one page of a list, unless the caller asks for fewer.
pub const PAGE_ITEMS: usize = 100;
/// Items of one page at most, whatever the caller asks.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// Objects of one page of a deployment's live state at most. It is larger than other pages, because each page takes a list of
/// all objects of the deployment.
pub const LIVE_ITEMS_MAX: usize = 5_000;
/// Characters of one error message; longer ones are clipped, so that an error never carries a body.
pub const MESSAGE_CHARS: usize = 4_000;
/// Bytes of one part of an identity: a user's or a group's name, or one extra.
pub const IDENTITY_TEXT_BYTES: usize = 1_024;
/// All parts of an identity: directories of large companies put hundreds of groups into a token.
pub const IDENTITY_TEXTS: usize = 1_000;
/// Bytes of all parts of an identity: they become headers of every request, and an API server takes 1 MiB of those.
pub const IDENTITY_BYTES: usize = 64 * 1024;
/// Bytes of a bearer token: one with many groups in it has some 10 KiB.
pub const TOKEN_BYTES: usize = 64 * 1024;
/// Bytes of a credential's secret: the key file of a service account has some 2 KiB.
pub const SECRET_BYTES: usize = 64 * 1024;
/// Questions of one access review.
pub const ACCESS_QUESTIONS: usize = 1_000;
