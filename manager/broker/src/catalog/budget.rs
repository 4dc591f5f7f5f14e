//! How large the files of all plans may be together.
//!
//! A plan has its files: a document with many plans, each with the same large file, would need more memory than anybody has.

/// Some hundred plans with charts of their own.
const BYTES: usize = 64 * 1024 * 1024;

/// What is left for the files of plans.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: BYTES }
    }
}

impl Budget {
    /// # Errors
    /// There is not so much left. Then there is nothing left for others either.
    pub fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        left.map(drop).ok_or_else(|| {
            let most = BYTES / (1024 * 1024);
            format!(
                "the files of all plans are larger than {most} MiB together; offer fewer plans, or smaller files"
            )
        })
    }
}
