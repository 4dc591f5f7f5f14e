//! The words the server and its Python workers exchange.
//!
//! Responsible for the shape of every message and for the size of the frames they travel in. It
//! knows neither Python nor processes: it only says what may be said.
//!
//! Two conversations use it:
//!
//! - [`control`]: the server and the zygote, datagrams: start a session, kill one, one has ended;
//! - [`session`]: the server and the process of one session, [`frame`]s on a stream: open it, then
//!   one call of a template after the other. Closing the stream ends the session.

pub mod control;
pub mod frame;
pub mod session;
