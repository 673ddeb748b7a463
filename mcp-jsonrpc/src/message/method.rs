//! Method names and their types.

use crate::message::body::Body;
use crate::message::result_body::ResultBody;

/// A request: its name, its params and its result.
///
/// Marker types implement it, so that a call is `call::<CallTool>(params)`. To call a method of an extension, implement
/// it for your own marker type.
pub trait Method {
    /// The method on the wire.
    const NAME: &'static str;
    /// The request's params.
    type Params: Body;
    /// The response's result.
    type Output: ResultBody;
}

/// A notification: its name and its params.
pub trait NotificationMethod {
    /// The method on the wire.
    const NAME: &'static str;
    /// The notification's params.
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
