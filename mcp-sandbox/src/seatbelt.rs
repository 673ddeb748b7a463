//! A profile in the language of macOS's `sandbox-exec`. Pure.
#![cfg_attr(
    not(any(target_os = "macos", test)),
    expect(dead_code, reason = "macOS")
)]

use std::fmt::Write as _;

use crate::plan::{FileAccess, FileRule};
use crate::profile::{Network, Profile};

/// What every program of macOS reads besides the common rules.
const SYSTEM: [&str; 7] = [
    "/System",
    "/Library/Frameworks",
    "/Library/Preferences",
    "/opt/homebrew",
    "/private/etc/ssl",
    "/private/var/db/timezone",
    "/private/var/db/dyld",
];

/// The text of a profile: nothing is allowed but what it says.
pub(crate) fn write(profile: &Profile, rules: &[FileRule], proxy: Option<u16>) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork process-exec sysctl-read mach-lookup)\n\
         (allow signal (target same-sandbox))\n(allow file-read-metadata)\n",
    );
    // Writing to a `String` does not fail.
    for path in SYSTEM {
        let _ = writeln!(text, "(allow file-read* (subpath {}))", quoted(path));
    }
    for rule in rules {
        let allowed = match rule.access {
            FileAccess::Read => "file-read*",
            FileAccess::Device | FileAccess::Write => "file-read* file-write*",
        };
        let path = quoted(&rule.path.to_string_lossy());
        let _ = writeln!(text, "(allow {allowed} (subpath {path}))");
    }
    match (&profile.network, proxy) {
        (Network::All, _) => text.push_str("(allow network* system-socket)\n"),
        (Network::Hosts(_), Some(port)) => {
            let _ = writeln!(
                text,
                "(allow network-outbound (remote tcp \"localhost:{port}\"))"
            );
        }
        _ => {}
    }
    text
}

/// A string of the language; a quote or a backslash in it ends nothing.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Origin;

    #[test]
    fn a_path_with_a_quote_stays_inside_its_rule() {
        let rule = FileRule {
            path: "/a\")(allow default)".into(),
            access: FileAccess::Read,
            origin: Origin::Profile,
        };
        let text = write(&Profile::new(), &[rule], None);
        let last = text.lines().last();
        assert_eq!(
            last,
            Some(r#"(allow file-read* (subpath "/a\")(allow default)"))"#)
        );
    }
}
