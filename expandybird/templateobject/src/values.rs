//! The port through which generated values come.

/// Where the values of generated parameters come from.
pub trait Values {
    /// The value that was made for this parameter before, if it is to be used again.
    fn kept(&self, parameter: &str) -> Option<&str>;

    /// Random bytes for the value of this parameter. Each call continues where the last one ended.
    fn random(&mut self, parameter: &str, bytes: &mut [u8]);
}
