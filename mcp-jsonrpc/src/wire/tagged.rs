//! The macro that declares a tagged union.

use std::borrow::Cow;

use crate::json::read_error::ReadError;
use crate::json::reader::{MAX_DEPTH, Reader};

/// Declares an enum of objects with a tag: `ContentBlock by "type" { Text(TextContent) = "text" }`.
///
/// The tag alone determines the variant. An undeclared tag is kept as `Unknown`, and so is an object without the tag,
/// unless a variant is marked `else`. If an object with a declared tag cannot be read, the read fails or, where the
/// enum says `keeps bad ones`, the object is kept as `Unknown` too.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal $($keeps:ident bad ones)? {
            $( $(#[$vmeta:meta])* $Variant:ident($Type:ty) = $value:literal ),* $(,)?
        }
        $(else $Default:ident)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vmeta])* $Variant($Type), )*
            /// A variant unknown to this version of the crate, as received.
            $(
                #[doc = concat!("Or one it ", stringify!($keeps), " because it could not be read.")]
            )?
            Unknown($crate::json::raw::RawJson),
        }

        const _: () = {
            use $crate::json::read_error::ReadError;
            use $crate::json::reader::Reader;
            use $crate::wire::field::Field;

            impl $Name {
                fn known(reader: &mut Reader<'_>) -> Result<Option<Self>, ReadError> {
                    Ok(match $crate::wire::tagged::peek_tag(*reader, $tag)?.as_deref() {
                        $(Some($value) => Some(Self::$Variant(Field::read(reader)?)),)*
                        Some(_) => None,
                        None => $crate::wire::tagged::tagged!(@untagged reader $($Default)?),
                    })
                }
            }

            impl Field for $Name {
                fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
                    let start = *reader;
                    match Self::known(reader) {
                        Ok(Some(known)) => return Ok(known),
                        Ok(None) => {}
                        $(Err(error) if $crate::wire::tagged::$keeps(&error) => {})?
                        Err(error) => return Err(error),
                    }
                    *reader = start;
                    Field::read(reader).map(Self::Unknown)
                }

                $crate::wire::field::serialize_plainly!();
            }

            impl ::serde::Serialize for $Name {
                fn serialize<S: ::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$Variant(value) => value.serialize(serializer),)*
                        Self::Unknown(raw) => raw.serialize(serializer),
                    }
                }
            }

            $crate::wire::field::deserialize_fields!($Name);
            $crate::message::body::bodies!($Name);
        };

        $(impl From<$Type> for $Name {
            fn from(value: $Type) -> Self {
                Self::$Variant(value)
            }
        })*
    };
    (@untagged $reader:ident) => { None };
    (@untagged $reader:ident $Default:ident) => { Some(Self::$Default(Field::read($reader)?)) };
}
pub(crate) use tagged;

/// Finds the tag of an object, which is mostly its first member. `None` also if it is not a string.
pub(crate) fn peek_tag<'a>(
    mut reader: Reader<'a>,
    tag: &str,
) -> Result<Option<Cow<'a, str>>, ReadError> {
    let mut members = reader.object()?;
    while let Some(name) = members.next(&mut reader)? {
        if name.decode()? == tag {
            return match reader.peek() {
                Some(b'"') => reader.string().map(Some),
                _ => Ok(None),
            };
        }
        reader.skip(MAX_DEPTH)?;
    }
    Ok(None)
}

/// Whether an invalid object with a known tag is kept: if it is valid JSON.
pub(crate) fn keeps(error: &ReadError) -> bool {
    error.is_shape()
}
