//! Settings, each declared once: how it is read and how it is set.

macro_rules! settings {
    (of $Settings:ident; $($(#[$meta:meta])* $name:ident / $with:ident: $Type:ty;)*) => {
        impl $Settings {$(
            $(#[$meta])*
            pub fn $name(&self) -> $Type {
                self.$name
            }

            #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub fn $with(mut self, $name: $Type) -> Self {
                self.$name = $name;
                self
            }
        )*}
    };
}

pub(crate) use settings;
