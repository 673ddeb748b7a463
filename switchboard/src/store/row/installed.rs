//! Where an installed server came from.

use serde::{Deserialize, Serialize};

/// What a server was installed from, so that it can be updated.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Installed {
    /// Its whole name: `com.example/weather`, or the name of its bundle.
    pub name: String,
    /// The version of the server, if it says one.
    pub version: Option<String>,
    /// The address of the registry; nothing if it came from a file.
    pub registry: Option<String>,
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb`, `streamable-http` or `sse`.
    pub kind: String,
    /// The package, or the address of the server or its bundle.
    pub package: String,
    /// The SHA-256 of its bundle.
    pub sha256: Option<String>,
    /// The folder of its bundle, among those of the server.
    pub folder: Option<String>,
}
