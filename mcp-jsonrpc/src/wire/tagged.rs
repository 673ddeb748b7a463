//! The macro that declares a union told apart by one member.

use serde::de;

use super::members::Members;
use crate::ordered_map::RawMap;
use crate::raw::RawJson;

/// Declares an enum of objects told apart by a tag: `ContentBlock by "type" { Text(TextContent) = "text" }`.
///
/// The tag decides, nothing is tried out. A kind nobody declared is kept as `Unknown`, and so is an
/// object without the tag, unless a kind is marked `else`: that one declares the tag as a member.
macro_rules! tagged {
    (@untagged $members:ident) => {
        $crate::wire::tagged::gather(None, $members).map(Self::Unknown)
    };
    (@untagged $members:ident $Default:ident) => {
        Object::from_members($members).map(Self::$Default)
    };
    (
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal {
            $( $(#[$vmeta:meta])* $Variant:ident($Type:ty) = $value:literal ),* $(,)?
        }
        $(else $Default:ident)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vmeta])* $Variant($Type), )*
            /// A kind this version of the crate does not know, as it came.
            Unknown($crate::raw::RawJson),
        }

        const _: () = {
            #[allow(unused_imports, reason = "where no kind is the default")]
            use {$crate::raw::RawJson, $crate::wire::field::Written, ::serde::de::Error};
            use $crate::wire::members::{Key, Members, Object, ObjectVisitor, Replay};

            enum Kind { $($Variant,)* Unheard(String) }

            impl $crate::wire::field::Field for Kind {
                fn read<'de, D: ::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Self, D::Error> {
                    deserializer.deserialize_str($crate::wire::string_enum::WordVisitor(|kind| {
                        Ok(match kind {
                            $($value => Self::$Variant,)*
                            _ => Self::Unheard(kind.to_owned()),
                        })
                    }))
                }

                fn write<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(match self {
                        $(Self::$Variant => $value,)*
                        Self::Unheard(kind) => kind,
                    })
                }
            }

            enum Met { Tag, Other(String) }

            impl Key for Met {
                fn of(name: &str) -> Self {
                    if name == $tag { Self::Tag } else { Self::Other(name.to_owned()) }
                }
            }

            impl $Name {
                fn of_kind<M: Members>(kind: Kind, members: M) -> Result<Self, M::Error> {
                    match kind {
                        $(Kind::$Variant => Object::from_members(members).map(Self::$Variant),)*
                        Kind::Unheard(kind) => {
                            $crate::wire::tagged::gather(Some(($tag, &kind)), members)
                                .map(Self::Unknown)
                        }
                    }
                }
            }

            impl Object for $Name {
                fn from_members<M: Members>(mut members: M) -> Result<Self, M::Error> {
                    let mut aside = Vec::new();
                    while let Some(met) = members.key::<Met>()? {
                        match met {
                            Met::Other(name) => aside.push((name, members.value()?)),
                            Met::Tag => {
                                let kind: Kind = members.value()?;
                                $(if matches!(kind, Kind::$Default) {
                                    let tag = RawJson::from_serialize(&Written(&kind));
                                    aside.push(($tag.to_owned(), tag.map_err(Error::custom)?));
                                })?
                                return if aside.is_empty() {
                                    Self::of_kind(kind, members)
                                } else {
                                    Self::of_kind(kind, Replay::new(aside, members))
                                };
                            }
                        }
                    }
                    let members = Replay::new(aside, members);
                    $crate::wire::tagged::tagged!(@untagged members $($Default)?)
                }
            }

            impl<'de> ::serde::Deserialize<'de> for $Name {
                fn deserialize<D: ::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Self, D::Error> {
                    deserializer.deserialize_map(ObjectVisitor(::std::marker::PhantomData))
                }
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

            $crate::wire::field::plain_fields!($Name);
        };

        $(impl From<$Type> for $Name {
            fn from(value: $Type) -> Self {
                Self::$Variant(value)
            }
        })*
    };
}
pub(crate) use tagged;

/// Puts an object of an unknown kind together again: its tag, then its other members.
pub(crate) fn gather<M: Members>(
    tag: Option<(&str, &str)>,
    mut members: M,
) -> Result<RawJson, M::Error> {
    let mut object = RawMap::new();
    if let Some((name, kind)) = tag {
        object.set(name, kind).map_err(de::Error::custom)?;
    }
    while let Some(name) = members.key::<String>()? {
        object.push(name, members.value()?);
    }
    object.settle();
    RawJson::from_serialize(&object).map_err(de::Error::custom)
}
