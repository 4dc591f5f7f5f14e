//! Frames: a little-endian `u32` length, then that many bytes of JSON.
//!
//! Both sides reject a frame that is too long before they reserve memory for it. The worker runs untrusted code, so its
//! messages are not trusted.

use std::io::{self, Read, Write};

use common_json::{JsonError, Limits, TooLarge};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The maximum of one frame, checked before it is parsed. All imports of a session are in one frame, and the server
/// accepts no larger request.
pub const MAX_PAYLOAD: Limits = Limits::TEMPLATE;

/// The size of the payload's length, in bytes.
pub const HEADER_BYTES: usize = 4;

/// Why a frame could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes is over the limit of {} bytes", MAX_PAYLOAD.bytes)]
    TooLong { bytes: usize },
    #[error("a frame is too large: {0}")]
    TooLarge(#[source] TooLarge),
    #[error("a frame is not the expected JSON")]
    Malformed(#[source] serde_json::Error),
    #[error("the stream broke inside a frame")]
    Broken(#[source] io::Error),
}

/// One whole frame with its header.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut bytes, message).map_err(FrameError::Malformed)?;
    let length = bytes.len() - HEADER_BYTES;
    bytes[..HEADER_BYTES].copy_from_slice(&header(length)?);
    Ok(bytes)
}

fn header(length: usize) -> Result<[u8; HEADER_BYTES], FrameError> {
    match u32::try_from(length) {
        Ok(short) if length <= MAX_PAYLOAD.bytes => Ok(short.to_le_bytes()),
        _ => Err(FrameError::TooLong { bytes: length }),
    }
}

/// The length in a header.
pub fn payload_bytes(header: [u8; HEADER_BYTES]) -> Result<usize, FrameError> {
    match u32::from_le_bytes(header) as usize {
        bytes if bytes <= MAX_PAYLOAD.bytes => Ok(bytes),
        bytes => Err(FrameError::TooLong { bytes }),
    }
}

/// The message in a payload.
pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FrameError> {
    common_json::from_slice(payload, &MAX_PAYLOAD).map_err(|error| match error {
        JsonError::TooLarge(limit) => FrameError::TooLarge(limit),
        JsonError::Malformed(error) => FrameError::Malformed(error),
    })
}

/// Writes one frame.
pub fn write(stream: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let bytes = encode(message)?;
    stream.write_all(&bytes).map_err(FrameError::Broken)
}

/// Reads one frame. `None` if the stream ends before a frame.
pub fn read<T: DeserializeOwned>(stream: &mut impl Read) -> Result<Option<T>, FrameError> {
    let mut header = [0; HEADER_BYTES];
    if !read_header(stream, &mut header).map_err(FrameError::Broken)? {
        return Ok(None);
    }
    let mut payload = vec![0; payload_bytes(header)?];
    stream
        .read_exact(&mut payload)
        .map_err(FrameError::Broken)?;
    decode(&payload).map(Some)
}

/// False at the end of the stream. An end inside of the header is an error.
fn read_header(stream: &mut impl Read, header: &mut [u8]) -> io::Result<bool> {
    loop {
        match stream.read(&mut header[..1]) {
            Ok(0) => return Ok(false),
            Ok(_) => return stream.read_exact(&mut header[1..]).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_frame_reads_back_and_the_end_of_the_stream_is_none() {
        let mut bytes = Vec::new();
        write(&mut bytes, &vec!["a", "b"]).unwrap();
        let mut stream = bytes.as_slice();
        assert_eq!(
            read::<Vec<String>>(&mut stream).unwrap(),
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(read::<Vec<String>>(&mut stream).unwrap(), None);
    }

    #[test]
    fn an_oversized_frame_is_refused_before_it_is_read() {
        let mut stream = &u32::MAX.to_le_bytes()[..];
        let error = read::<String>(&mut stream).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { bytes } if bytes == u32::MAX as usize));
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_broken() {
        for cut in [2, 6] {
            let frame = encode(&"some text").unwrap();
            let error = read::<String>(&mut &frame[..cut]).unwrap_err();
            assert!(matches!(error, FrameError::Broken(_)), "cut at {cut}");
        }
    }
}
