//! Frames over a session's stream, without blocking the server.

use std::io;

use expandybird_protocol::frame::{self, FrameError, HEADER_BYTES};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// Writes frames. That the other side is gone is for [`receive`] to say, after what it said
/// last.
pub(super) async fn send(stream: &mut UnixStream, frames: &[u8]) -> Result<(), FrameError> {
    match stream.write_all(frames).await {
        Err(error) if !is_end(&error) => Err(FrameError::Broken(error)),
        _ => Ok(()),
    }
}

/// Reads one message; `None` when the other side is gone.
pub(super) async fn receive<T: DeserializeOwned>(
    stream: &mut UnixStream,
) -> Result<Option<T>, FrameError> {
    let mut header = [0; HEADER_BYTES];
    match stream.read_exact(&mut header).await {
        Ok(_) => {}
        Err(error) if is_end(&error) => return Ok(None),
        Err(error) => return Err(FrameError::Broken(error)),
    }
    let mut payload = vec![0; frame::payload_bytes(header)?];
    match stream.read_exact(&mut payload).await {
        Ok(_) => frame::decode(&payload).map(Some),
        Err(error) if is_end(&error) => Ok(None),
        Err(error) => Err(FrameError::Broken(error)),
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}
