//! Random bytes, as the maker of RSA keys takes them.

use expandybird_sprig::made::Random;
use rsa::rand_core::{CryptoRng, Error, RngCore};

pub struct Bytes<'r, 'v>(pub &'r mut Random<'v>);

impl RngCore for Bytes<'_, '_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.fill(bytes);
        Ok(())
    }
}

impl CryptoRng for Bytes<'_, '_> {}
