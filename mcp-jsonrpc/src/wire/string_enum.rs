//! The macros that declare enums of strings.

/// Declares an enum of strings. `closed`: any other string fails the read. `open`: any other
/// string is kept as `Other`.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub closed $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum $Name { $( $(#[$vmeta])* $Variant, )* }

        impl $Name {
            /// The string on the wire.
            pub const fn as_str(&self) -> &'static str {
                match self { $(Self::$Variant => $text,)* }
            }

            fn of(text: &str) -> Result<Self, $crate::json::read_error::ReadError> {
                match text {
                    $($text => Ok(Self::$Variant),)*
                    _ => Err($crate::json::read_error::ReadError::shape(format!(
                        concat!("{:?} is none of", $(" ", $text,)*), text,
                    ))),
                }
            }
        }

        $crate::wire::string_enum::string_enum!(@serde $Name);
    };
    (
        $(#[$meta:meta])*
        pub open $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vmeta])* $Variant, )*
            /// A string unknown to this version of the crate.
            Other(String),
        }

        impl $Name {
            /// The string on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$Variant => $text,)*
                    Self::Other(text) => text,
                }
            }

            #[allow(clippy::unnecessary_wraps, reason = "same shape as a closed enum's")]
            fn of(text: &str) -> Result<Self, $crate::json::read_error::ReadError> {
                Ok(Self::from(text))
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$Variant,)*
                    _ => Self::Other(text.to_owned()),
                }
            }
        }

        $crate::wire::string_enum::string_enum!(@serde $Name);
    };
    (@serde $Name:ident) => {
        impl ::std::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::wire::field::Field for $Name {
            fn read(
                reader: &mut $crate::json::reader::Reader<'_>,
            ) -> Result<Self, $crate::json::read_error::ReadError> {
                Self::of(&reader.string()?)
            }

            $crate::wire::field::serialize_plainly!();
        }

        $crate::wire::field::deserialize_fields!($Name);
    };
}
pub(crate) use string_enum;
