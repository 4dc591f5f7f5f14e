//! Page tokens: where the previous page ended, in hexadecimal digits, so that clients treat them as opaque.

use crate::store::StoreError;

pub fn write(place: &[u8]) -> String {
    place.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn read(token: &str) -> Result<Vec<u8>, StoreError> {
    let digits: Option<Vec<u8>> = token
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits
        .filter(|digits| digits.len().is_multiple_of(2))
        .ok_or(StoreError::PageToken)?;
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_token_is_read_back_and_others_are_refused() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(read(&write(&bytes)).unwrap(), bytes);
        for bad in ["a", "zz", "ää"] {
            assert!(matches!(read(bad), Err(StoreError::PageToken)), "{bad}");
        }
    }
}
