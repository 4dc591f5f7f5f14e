//! As little HTTP as a measurement needs: one connection, kept; the caller's own work must not hide the server's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context as _, Result, ensure};

pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// The body of the answer, which must be 200.
    pub fn post(&mut self, path: &str, body: &[u8]) -> Result<Vec<u8>> {
        let mut message = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        message.extend_from_slice(body);
        self.stream.get_mut().write_all(&message)?;
        let (status, bytes) = self.head()?;
        let mut answer = vec![0; bytes];
        self.stream.read_exact(&mut answer)?;
        ensure!(
            status.contains(" 200 "),
            "{status}{}",
            String::from_utf8_lossy(&answer)
        );
        Ok(answer)
    }

    /// The status line, and how long the body is.
    fn head(&mut self) -> Result<(String, usize)> {
        let mut status = String::new();
        self.stream.read_line(&mut status)?;
        let mut bytes = None;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                return Ok((status, bytes.context("an answer without a length")?));
            }
            if let Some(length) = line.strip_prefix("content-length:") {
                bytes = Some(length.trim().parse()?);
            }
        }
    }
}
