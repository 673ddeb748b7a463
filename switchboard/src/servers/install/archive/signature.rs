//! The signature at the end of a bundle: `MCPB_SIG_V1`, its length, a PKCS #7 signature, `MCPB_SIG_END`.
//! It is shown, and not verified.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

const BEGIN: &[u8] = b"MCPB_SIG_V1";
const END: &[u8] = b"MCPB_SIG_END";
/// The longest signature with what is around it.
pub(super) const LONGEST: u64 = 64 << 10;
/// The object identifier of a common name, and its length, as certificates have them.
const COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];

/// A signature of a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::servers::install) struct Signature {
    /// Whom its last certificate names, which anybody can write.
    pub(in crate::servers::install) claimed: Option<String>,
}

impl Signature {
    /// The signature at the end of a file.
    pub(super) fn of(file: &mut File) -> io::Result<Option<Self>> {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
        let mut tail = Vec::new();
        file.take(LONGEST).read_to_end(&mut tail)?;
        Ok(Self::at_end(&tail))
    }

    fn at_end(tail: &[u8]) -> Option<Self> {
        let body = tail.strip_suffix(END)?;
        let at = body
            .windows(BEGIN.len())
            .rposition(|window| window == BEGIN)?;
        let (length, signature) = body.get(at + BEGIN.len()..)?.split_first_chunk::<4>()?;
        if u32::from_le_bytes(*length) as usize != signature.len() {
            return None;
        }
        Some(Self {
            claimed: common_name(signature),
        })
    }
}

/// The last common name of a certificate.
fn common_name(der: &[u8]) -> Option<String> {
    let at = der
        .windows(COMMON_NAME.len())
        .rposition(|window| window == COMMON_NAME)?;
    let [_, length, rest @ ..] = der.get(at + COMMON_NAME.len()..)? else {
        return None;
    };
    let name = rest.get(..usize::from(*length).min(100))?;
    Some(std::str::from_utf8(name).ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(signature: &[u8], length: usize) -> Vec<u8> {
        let length = u32::try_from(length).unwrap().to_le_bytes();
        [b"zip", BEGIN, &length, signature, END].concat()
    }

    #[test]
    fn a_signature_names_the_last_subject_of_its_certificates() {
        let der = [
            b"..",
            COMMON_NAME,
            b"\x0c\x02CA",
            COMMON_NAME,
            b"\x0c\x03Ann.",
        ]
        .concat();
        let found = Signature::at_end(&block(&der, der.len())).unwrap();
        assert_eq!(found.claimed.as_deref(), Some("Ann"));
        assert_eq!(Signature::at_end(&block(b"", 0)).unwrap().claimed, None);
        assert_eq!(Signature::at_end(&block(b"xyz", 2)), None);
        assert_eq!(Signature::at_end(b"zip"), None);
        assert_eq!(Signature::at_end(END), None);
    }
}
