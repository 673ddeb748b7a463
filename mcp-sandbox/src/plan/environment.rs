//! The environment of a contained server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::profile::Profile;

/// What programs need to find themselves and to speak the user's language.
const KEPT: [&str; 10] = [
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    // By this, a host finds what its servers have left behind.
    "SWITCHBOARD_LEDGER",
    "TERM",
    "TZ",
    "USER",
    "SYSTEMROOT",
    "PATHEXT",
];

/// The variables that a server gets, out of those that are meant for it. Its home and its temporary
/// folder are its own; `proxy` is the port of its proxy.
pub(crate) fn environment(
    profile: &Profile,
    given: impl IntoIterator<Item = (OsString, OsString)>,
    own: &Path,
    proxy: Option<u16>,
) -> BTreeMap<OsString, OsString> {
    let is_named = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            KEPT.contains(&name) || name.starts_with("LC_") || profile.variables.contains(name)
        })
    };
    let mut all: BTreeMap<OsString, OsString> = given
        .into_iter()
        .filter(|(name, _)| is_named(name))
        .collect();
    let mut set = |name: &str, value: &OsStr| {
        if !profile.variables.contains(name) {
            all.insert(name.into(), value.to_owned());
        }
    };
    set("HOME", own.join("home").as_os_str());
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set(name, own.join("tmp").as_os_str());
    }
    if let Some(port) = proxy {
        let url = OsString::from(format!("http://127.0.0.1:{port}"));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            set(name, &url);
            set(&name.to_lowercase(), &url);
        }
        // Node uses the variables only if it is asked to.
        set("NODE_USE_ENV_PROXY", OsStr::new("1"));
    }
    all
}
