//! Icons of tools, resources, prompts and implementations.

use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// An icon. This stack passes icons on and never fetches them.
    pub struct Icon {
        required {
            /// An `https:` or `data:` URI. Reject others.
            src: String = "src",
        }
        optional {
            /// Its media type, which overrides the one in the server's response.
            mime_type: String = "mimeType",
            /// The sizes it is suited for: `48x48`, or `any`.
            sizes: Vec<String> = "sizes",
            /// The background it is designed for.
            theme: IconTheme = "theme",
        }
    }
}

string_enum! {
    /// The background an icon is designed for.
    pub open IconTheme {
        /// A dark background.
        Dark = "dark",
        /// A light background.
        Light = "light",
    }
}
