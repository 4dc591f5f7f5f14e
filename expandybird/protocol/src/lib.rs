//! The messages between the server and its Python workers.
//!
//! Responsible for the shape of every message and for the size of its frame. It does not know Python or processes.
//!
//! There are two conversations:
//!
//! - [`control`]: the server and the zygote, with datagrams: start a session, kill one, one has ended;
//! - [`session`]: the server and the process of one session, with [`frame`]s on a stream: open it, then one call of a
//!   template after another. Closing the stream ends the session.

pub mod control;
pub mod frame;
pub mod session;
