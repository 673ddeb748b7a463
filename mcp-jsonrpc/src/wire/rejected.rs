//! List items that could not be read.

use std::borrow::Cow;

use crate::json::raw::{RawJson, RawRef};
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::wire::field::Field;

/// A list item that could not be read. It is set aside, so that it never hides the others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its index in the list.
    pub index: usize,
    /// Its name, or else its URI, if either could be read.
    pub name: Option<String>,
    /// Why it could not be read.
    pub reason: ReadError,
    /// The item itself.
    pub raw: RawJson,
}

/// Reads an array and sets invalid items aside.
pub(crate) fn read_list<T: Field>(
    reader: &mut Reader<'_>,
) -> Result<(Vec<T>, Vec<Rejected>), ReadError> {
    let (mut good, mut rejected) = (Vec::new(), Vec::new());
    let mut items = reader.array()?;
    while items.next(reader)? {
        let start = *reader;
        match T::read(reader) {
            Ok(item) => good.push(item),
            Err(reason) => {
                *reader = start;
                // At any depth: an item that nests too deep must not hide the others.
                let raw = RawRef::checked(reader.raw_deep(usize::MAX)?);
                rejected.push(Rejected {
                    index: good.len() + rejected.len(),
                    name: name_of(raw),
                    reason,
                    raw: raw.into(),
                });
            }
        }
    }
    Ok((good, rejected))
}

fn name_of(item: RawRef<'_>) -> Option<String> {
    let (mut name, mut uri) = (None, None);
    let mut reader = Reader::new(item.get());
    let mut members = reader.object().ok()?;
    while let Ok(Some(member)) = members.next(&mut reader) {
        let member = member.decode().unwrap_or_default();
        let value = Reader::new(reader.raw_deep(usize::MAX).ok()?)
            .string()
            .map(Cow::into_owned);
        match &*member {
            "name" => name = value.ok(),
            "uri" => uri = value.ok(),
            _ => {}
        }
    }
    name.or(uri)
}
