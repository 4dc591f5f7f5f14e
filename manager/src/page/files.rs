//! The table of the page's files, which `build.rs` writes.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Below `/ui/`.
    pub path: &'static str,
    pub bytes: &'static [u8],
    /// The same, compressed.
    pub gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

impl File {
    /// Its media type, by the ending of its name.
    pub fn content_type(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}
