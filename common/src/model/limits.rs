//! Limits on what callers may send, each with its reason.

use crate::json::Limits;

/// Bytes of a request body. The row also limits what its JSON may hold.
pub const REQUEST_BYTES: usize = Limits::REQUEST.bytes;
/// The longest deadline that a caller may give an operation: a day.
pub const OPERATION_MS: u64 = 24 * 60 * 60 * 1_000;
/// Resources of one expanded configuration. The largest real ones have hundreds. More than this is probably a mistake.
pub const RESOURCES: usize = 10_000;
/// Imported files of one request.
pub const IMPORTS: usize = 1_000;
/// Characters of a deployment's description: a paragraph, not a document.
pub const DESCRIPTION_CHARS: usize = 4_096;
/// Labels of a deployment.
pub const LABELS: usize = 64;
/// Characters of a label's key or value.
pub const LABEL_CHARS: usize = 253;
/// Items of one page of a list by default.
pub const PAGE_ITEMS: usize = 100;
/// Items of one page at most.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// Objects of one page of a deployment's live state at most. Larger than other pages, because each page needs a list of
/// all objects of the deployment.
pub const LIVE_ITEMS_MAX: usize = 5_000;
/// Characters of one error message. Longer ones are clipped, so that an error never contains a body.
pub const MESSAGE_CHARS: usize = 4_000;
/// Bytes of one part of an identity: the name of a user or a group, or one extra value.
pub const IDENTITY_TEXT_BYTES: usize = 1_024;
/// Parts of an identity. Directories of large companies put hundreds of groups into a token.
pub const IDENTITY_TEXTS: usize = 1_000;
/// Bytes of all parts of an identity. They become headers of each request, and an API server accepts 1 MiB of headers.
pub const IDENTITY_BYTES: usize = 64 * 1024;
/// Bytes of a bearer token. One with many groups has about 10 KiB.
pub const TOKEN_BYTES: usize = 64 * 1024;
/// Bytes of a credential's secret. The key file of a service account has about 2 KiB.
pub const SECRET_BYTES: usize = 64 * 1024;
/// Objects of one lookup, and edits of one request.
pub const LOOKUP_OBJECTS: usize = 256;
/// Questions of one access review.
pub const ACCESS_QUESTIONS: usize = 1_000;
