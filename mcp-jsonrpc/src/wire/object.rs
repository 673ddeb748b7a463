//! The macro that declares a struct of the model.

/// Declares a struct that mirrors a JSON object.
///
/// - `required` members fail the read when absent and become parameters of `new`;
/// - `listed` is a required array; its invalid items are stored in `rejected` and do not fail the read;
/// - `defaulted` members are read as their default when absent, always written, and parameters of `new`; with
///   `beside [a b]` they are required unless one of those optional members is present;
/// - `optional` members become `Option`s, written only when present; a member in [`HINTS`] with an invalid value is
///   kept in `extra`, like an undeclared one.
///
/// Undeclared members are kept in `extra`, in order, byte for byte, and are written back last. Of members with the same
/// name the last one wins. `tag "type" = "text"` adds a constant member, written first and checked when present.
macro_rules! object {
    // No required members: `Default` is the constructor.
    (
        $(#[$meta:meta])*
        pub struct $Name:ident $(tag $tag:literal = $tagged:literal)? {
            $(optional { $( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),* $(,)? })?
        }
    ) => {
        $crate::wire::object::object!(@define [#[derive(Default)]]
            $(#[$meta])* $Name [$($tag = $tagged)?] [] [] [] []
            [$($( $(#[$ometa])* $o: $oty = $okey ),*)?]
        );
    };
    (
        $(#[$meta:meta])*
        pub struct $Name:ident $(tag $tag:literal = $tagged:literal)? {
            $(required { $( $(#[$rmeta:meta])* $r:ident: $rty:ty = $rkey:literal ),* $(,)? })?
            $(listed { $(#[$lmeta:meta])* $l:ident: $lty:ty = $lkey:literal $(,)? })?
            $(defaulted $(beside [$($b:ident)*])? {
                $( $(#[$dmeta:meta])* $d:ident: $dty:ty = $dkey:literal ),* $(,)?
            })?
            $(optional { $( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),* $(,)? })?
        }
    ) => {
        $crate::wire::object::object!(@define []
            $(#[$meta])* $Name [$($tag = $tagged)?]
            [$($( $(#[$rmeta])* $r: $rty = $rkey ),*)?]
            [$( $(#[$lmeta])* $l: $lty = $lkey, rejected )?]
            [$($( $(#[$dmeta])* $d: $dty = $dkey ),*)?]
            [$($($($b)*)?)?]
            [$($( $(#[$ometa])* $o: $oty = $okey ),*)?]
        );

        impl $Name {
            /// Creates the object with the members the protocol requires.
            pub fn new(
                $($($r: impl Into<$rty>,)*)?
                $($l: impl Into<Vec<$lty>>,)?
                $($($d: impl Into<$dty>,)*)?
            ) -> Self {
                Self {
                    $($($r: $r.into(),)*)?
                    $($l: $l.into(), rejected: Vec::new(),)?
                    $($($d: $d.into(),)*)?
                    $($($o: None,)*)?
                    extra: $crate::json::ordered_map::RawMap::new(),
                }
            }
        }
    };
    (@define [$($derive:tt)*]
        $(#[$meta:meta])* $Name:ident [$($tag:literal = $tagged:literal)?]
        [$( $(#[$rmeta:meta])* $r:ident: $rty:ty = $rkey:literal ),*]
        [$( $(#[$lmeta:meta])* $l:ident: $lty:ty = $lkey:literal, $rejected:ident )?]
        [$( $(#[$dmeta:meta])* $d:ident: $dty:ty = $dkey:literal ),*]
        [$($b:ident)*]
        [$( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),*]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $($derive)*
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$rmeta])* pub $r: $rty, )*
            $(
                $(#[$lmeta])* pub $l: Vec<$lty>,
                /// Items of the list that could not be read. Not on the wire.
                pub $rejected: Vec<$crate::wire::rejected::Rejected>,
            )?
            $( $(#[$dmeta])* pub $d: $dty, )*
            $( $(#[$ometa])* pub $o: Option<$oty>, )*
            /// Members unknown to this version of the crate, as received.
            pub extra: $crate::json::ordered_map::RawMap,
        }

        const _: () = {
            use $crate::json::ordered_map::RawMap;
            use $crate::json::read_error::ReadError;
            use $crate::json::reader::Reader;
            use $crate::wire::field::Field;

            impl Field for $Name {
                fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
                    $(let mut $r: Option<$rty> = None;)*
                    $(
                        let mut $l: Option<Vec<$lty>> = None;
                        let mut $rejected = Vec::new();
                    )?
                    $(let mut $d: Option<Option<$dty>> = None;)*
                    $(let mut $o: Option<$oty> = None;)*
                    let mut extra = RawMap::new();
                    let mut members = reader.object()?;
                    while let Some(name) = members.next(reader)? {
                        let name = name.decode()?;
                        let read = match &*name {
                            $($rkey => Field::read(reader).map(|value| $r = Some(value)),)*
                            $($lkey => $crate::wire::rejected::read_list(reader).map(|(good, bad)| {
                                ($l, $rejected) = (Some(good), bad);
                            }),)?
                            $($dkey => Field::read(reader).map(|value| $d = Some(value)),)*
                            $($okey => $crate::wire::object::read_optional(
                                reader, $okey, &mut extra,
                            ).map(|value| $o = value),)*
                            $($tag => $crate::wire::object::check_tag(reader, $tagged),)?
                            _ => Field::read(reader)
                                .map(|value| extra.push(name.as_ref().to_owned(), value)),
                        };
                        read.map_err(|error| error.in_member(&name))?;
                    }
                    extra.settle();
                    // Whether a defaulted member may be absent.
                    let _may_default =
                        $crate::wire::object::is_any_present(&[$($b.is_some()),*]);
                    Ok(Self {
                        $($r: $r.ok_or_else(|| ReadError::missing($rkey))?,)*
                        $($l: $l.ok_or_else(|| ReadError::missing($lkey))?, $rejected,)?
                        $($d: match $d {
                            None if !_may_default => return Err(ReadError::missing($dkey)),
                            value => value.flatten().unwrap_or_default(),
                        },)*
                        $($o,)*
                        extra,
                    })
                }

                $crate::wire::field::serialize_plainly!();
            }

            impl ::serde::Serialize for $Name {
                fn serialize<S: ::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    use ::serde::ser::SerializeMap as _;
                    #[allow(unused_imports, reason = "not every struct has typed members")]
                    use $crate::wire::field::Written;
                    let mut map = serializer.serialize_map(None)?;
                    $(map.serialize_entry($tag, $tagged)?;)?
                    $(map.serialize_entry($rkey, &Written(&self.$r))?;)*
                    $(map.serialize_entry($lkey, &Written(&self.$l))?;)?
                    $(map.serialize_entry($dkey, &Written(&self.$d))?;)*
                    $(if let Some(value) = &self.$o {
                        map.serialize_entry($okey, &Written(value))?;
                    })*
                    for (name, value) in self.extra.iter() {
                        map.serialize_entry(name, value)?;
                    }
                    map.end()
                }
            }

            $crate::wire::field::deserialize_fields!($Name);
            $crate::message::body::bodies!($Name);
        };
    };
}
pub(crate) use object;

use crate::json::ordered_map::RawMap;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::wire::field::Field;

/// Advisory members: everything works without them, so an invalid one must not fail the read.
const HINTS: [&str; 4] = ["ttlMs", "cacheScope", "pollIntervalMs", "pollInterval"];

/// Reads an optional member.
pub(crate) fn read_optional<T: Field>(
    reader: &mut Reader<'_>,
    name: &'static str,
    extra: &mut RawMap,
) -> Result<Option<T>, ReadError> {
    let start = *reader;
    match Field::read(reader) {
        Err(_) if HINTS.contains(&name) => {
            *reader = start;
            extra.push(name.to_owned(), Field::read(reader)?);
            Ok(None)
        }
        // Of members with the same name the last one wins.
        Ok(value) if !extra.is_empty() && HINTS.contains(&name) => {
            while extra.remove(name).is_some() {}
            Ok(value)
        }
        read => read,
    }
}

/// Whether one of the members is present that a default requires beside it; true if it requires none.
pub(crate) fn is_any_present(members: &[bool]) -> bool {
    members.is_empty() || members.contains(&true)
}

/// Reads the constant member of a struct.
pub(crate) fn check_tag(reader: &mut Reader<'_>, expected: &str) -> Result<(), ReadError> {
    match reader.string()? {
        tag if tag == expected => Ok(()),
        tag => Err(ReadError::shape(format!(
            "expected {expected:?}, found {tag:?}"
        ))),
    }
}
