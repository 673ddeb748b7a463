//! Pictures for tools, resources, prompts and implementations.

use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// A picture. Passed on, never fetched by this stack.
    pub struct Icon {
        required {
            /// An `https:` or `data:` URI. Refuse others.
            src: String = "src",
        }
        optional {
            /// Its media type, if the server's answer shall not be trusted.
            mime_type: String = "mimeType",
            /// The sizes it suits: `48x48`, or `any`.
            sizes: Vec<String> = "sizes",
            /// The background it is drawn for.
            theme: IconTheme = "theme",
        }
    }
}

string_enum! {
    /// The background an icon is drawn for.
    pub open IconTheme {
        /// A dark one.
        Dark = "dark",
        /// A light one.
        Light = "light",
    }
}
