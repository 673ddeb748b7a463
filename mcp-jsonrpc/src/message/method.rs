//! Method names tied to their types.

use crate::message::body::Body;
use crate::message::result_body::ResultBody;

/// A request: its name, what goes in, what comes out.
///
/// Implemented by marker types, so that a call is `call::<CallTool>(params)`. Implement it for a
/// marker of your own to call a method of an extension.
pub trait Method {
    /// The method on the wire.
    const NAME: &'static str;
    /// What the request carries.
    type Params: Body;
    /// What the answer carries.
    type Output: ResultBody;
}

/// A notification: its name and what it carries.
pub trait NotificationMethod {
    /// The method on the wire.
    const NAME: &'static str;
    /// What the notification carries.
    type Params: Body;
}

/// Declares markers of requests: `CallTool = "tools/call": CallToolParams => CallToolResult;`.
macro_rules! methods {
    ($($(#[$meta:meta])* $Name:ident = $name:literal: $Params:ty => $Output:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct $Name;

        impl $crate::message::method::Method for $Name {
            const NAME: &'static str = $name;
            type Params = $Params;
            type Output = $Output;
        }
    )*};
}
pub(crate) use methods;

/// Declares markers of notifications: `Progress = "notifications/progress": ProgressParams;`.
macro_rules! notifications {
    ($($(#[$meta:meta])* $Name:ident = $name:literal: $Params:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct $Name;

        impl $crate::message::method::NotificationMethod for $Name {
            const NAME: &'static str = $name;
            type Params = $Params;
        }
    )*};
}
pub(crate) use notifications;
