//! What no rule is proposed for, whatever a server says it needs: it would undo the sandbox.

use std::path::{Component, Path};

use super::Wanted;

/// Names of files and folders that hold keys, passwords, or what is run when the user logs in.
const NAMES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    "gcloud",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".pki",
    ".vault-token",
    ".terraform.d",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_history",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zsh_history",
    ".xinitrc",
    ".xprofile",
    "autostart",
    "systemd",
    "LaunchAgents",
    "crontabs",
    "keyrings",
    "Keychains",
    "kwalletd",
    "google-chrome",
    "chromium",
    "BraveSoftware",
    "1Password",
    "shadow",
    "gshadow",
    "sudoers",
    "sudoers.d",
    "authorized_keys",
    "known_hosts",
    "docker.sock",
];
/// Parts of names that such files have.
const PARTS: &[&str] = &[
    "credential",
    "secret",
    "password",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
];
/// Ends of names that such files have.
const ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".kdbx", ".keychain", ".env"];
/// Folders that hold much else.
const WIDE: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/root",
    "/sbin",
    "/srv",
    "/usr",
    "/usr/local",
    "/var",
    "/Users",
    "~",
    "~/.config",
    "~/.local",
    "~/.local/bin",
    "~/.local/share",
    "~/.cache",
    "~/Library",
    "~/Documents",
    "~/Desktop",
    "~/Downloads",
];
/// Where the kernel and running programs show themselves.
const LIVE: &[&str] = &["/proc", "/sys", "/dev", "/run", "/var/run"];
/// Where homes are.
const HOMES: &[&str] = &["/home", "/Users", "/var/home", "/export/home"];

/// Whether a rule for this would give away keys, credentials, a whole home or the machine.
pub(super) fn is_precious(wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Read(path) | Wanted::Use(path) => is_precious_path(path),
        // The rule is for the folder.
        Wanted::Write(path) => is_precious_path(path) || is_precious_path(super::parent(path)),
        _ => false,
    }
}

fn is_precious_path(path: &str) -> bool {
    let trimmed = path.trim_end_matches('/');
    let shown = if trimmed.is_empty() { "/" } else { trimmed };
    let path = Path::new(shown);
    let is_detour = path.components().any(|it| it == Component::ParentDir);
    let is_home = path
        .parent()
        .is_some_and(|above| HOMES.iter().any(|homes| above == Path::new(homes)));
    let is_named = path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        let lower = name.to_ascii_lowercase();
        NAMES.iter().any(|known| name == *known)
            || PARTS.iter().any(|known| lower.contains(known))
            || ENDS.iter().any(|known| lower.ends_with(known))
    });
    is_detour
        || is_home
        || is_named
        || WIDE.contains(&shown)
        || LIVE.iter().any(|live| path.starts_with(live))
}
