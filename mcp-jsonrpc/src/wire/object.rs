//! The macro that declares a struct of the model.

/// Declares a struct that mirrors a JSON object.
///
/// `required` members fail the read when absent and become the parameters of `new`; `defaulted`
/// ones are read as their default when absent and always written; `optional` ones become
/// `Option`s, written only when present. Members nobody declared land in `extra`, in their order,
/// byte for byte, and are written back last. Of members with the same name the last one counts.
/// `aside` holds what is not on the wire at all. `tag "type" = "text"` adds a constant member, written first and checked when it is read.
macro_rules! object {
    // Nothing required: `Default` is the constructor.
    (
        $(#[$meta:meta])*
        pub struct $Name:ident $(tag $tag:literal = $tagged:literal)? {
            $(optional { $( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),* $(,)? })?
        }
    ) => {
        $crate::wire::object::object!(@define [#[derive(Default)]]
            $(#[$meta])* $Name [$($tag = $tagged)?] [] []
            [$($( $(#[$ometa])* $o: $oty = $okey ),*)?] []
        );
    };
    (
        $(#[$meta:meta])*
        pub struct $Name:ident $(tag $tag:literal = $tagged:literal)? {
            $(required { $( $(#[$rmeta:meta])* $r:ident: $rty:ty = $rkey:literal ),* $(,)? })?
            $(defaulted { $( $(#[$dmeta:meta])* $d:ident: $dty:ty = $dkey:literal ),* $(,)? })?
            $(optional { $( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),* $(,)? })?
            $(aside { $( $(#[$ameta:meta])* $a:ident: $aty:ty ),* $(,)? })?
        }
    ) => {
        $crate::wire::object::object!(@define []
            $(#[$meta])* $Name [$($tag = $tagged)?]
            [$($( $(#[$rmeta])* $r: $rty = $rkey ),*)?]
            [$($( $(#[$dmeta])* $d: $dty = $dkey ),*)?]
            [$($( $(#[$ometa])* $o: $oty = $okey ),*)?]
            [$($( $(#[$ameta])* $a: $aty ),*)?]
        );

        impl $Name {
            /// With what the protocol requires, and nothing else.
            pub fn new($($($r: impl Into<$rty>,)*)? $($($d: impl Into<$dty>,)*)?) -> Self {
                Self {
                    $($($r: $r.into(),)*)?
                    $($($d: $d.into(),)*)?
                    $($($o: None,)*)?
                    $($($a: Default::default(),)*)?
                    extra: $crate::ordered_map::RawMap::new(),
                }
            }
        }
    };
    (@define [$($derive:tt)*]
        $(#[$meta:meta])* $Name:ident [$($tag:literal = $tagged:literal)?]
        [$( $(#[$rmeta:meta])* $r:ident: $rty:ty = $rkey:literal ),*]
        [$( $(#[$dmeta:meta])* $d:ident: $dty:ty = $dkey:literal ),*]
        [$( $(#[$ometa:meta])* $o:ident: $oty:ty = $okey:literal ),*]
        [$( $(#[$ameta:meta])* $a:ident: $aty:ty ),*]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $($derive)*
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$rmeta])* pub $r: $rty, )*
            $( $(#[$dmeta])* pub $d: $dty, )*
            $( $(#[$ometa])* pub $o: Option<$oty>, )*
            $( $(#[$ameta])* pub $a: $aty, )*
            /// Members this version of the crate does not know, as they came.
            pub extra: $crate::ordered_map::RawMap,
        }

        const _: () = {
            #[allow(non_camel_case_types, reason = "named after the fields")]
            enum Known { $($r,)* $($d,)* $($o,)* __Tag, __Other(String) }

            impl $crate::wire::members::Key for Known {
                fn of(name: &str) -> Self {
                    match name {
                        $($rkey => Self::$r,)*
                        $($dkey => Self::$d,)*
                        $($okey => Self::$o,)*
                        $($tag => Self::__Tag,)?
                        _ => Self::__Other(name.to_owned()),
                    }
                }
            }

            impl $crate::wire::members::Object for $Name {
                fn from_members<M: $crate::wire::members::Members>(
                    mut members: M,
                ) -> Result<Self, M::Error> {
                    $(let mut $r: Option<$rty> = None;)*
                    $(let mut $d: Option<$dty> = None;)*
                    $(let mut $o: Option<$oty> = None;)*
                    let mut extra = $crate::ordered_map::RawMap::new();
                    while let Some(key) = members.key::<Known>()? {
                        match key {
                            $(Known::$r => $r = Some(members.value()?),)*
                            $(Known::$d => $d = members.value()?,)*
                            $(Known::$o => $o = members.value()?,)*
                            Known::__Tag => {
                                let _tag: String = members.value()?;
                                $(if _tag != $tagged {
                                    return Err(::serde::de::Error::custom(format_args!(
                                        concat!("`", $tag, "` is {:?}, not {:?}"), _tag, $tagged,
                                    )));
                                })?
                            }
                            Known::__Other(name) => extra.push(name, members.value()?),
                        }
                    }
                    extra.settle();
                    Ok(Self {
                        $($r: $r.ok_or_else(|| ::serde::de::Error::missing_field($rkey))?,)*
                        $($d: $d.unwrap_or_default(),)*
                        $($o,)*
                        $($a: Default::default(),)*
                        extra,
                    })
                }
            }

            impl<'de> ::serde::Deserialize<'de> for $Name {
                fn deserialize<D: ::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Self, D::Error> {
                    deserializer.deserialize_map(
                        $crate::wire::members::ObjectVisitor(::std::marker::PhantomData),
                    )
                }
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

            $crate::wire::field::plain_fields!($Name);
        };
    };
}
pub(crate) use object;
