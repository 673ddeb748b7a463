//! Denials, explained.

use std::path::Path;

use mcp_sandbox::{Denial, Wanted};

#[test]
fn what_programs_and_the_kernel_write_is_explained_with_the_rule_that_would_allow_it() {
    let text = r#"
Error: EACCES: permission denied, open '/home/me/.ssh/id_rsa'
Error: EACCES: permission denied, scandir '/home/me/work'
Error: EACCES: permission denied, mkdir '/srv/out/new'
PermissionError: [Errno 13] Permission denied: '/etc/shells'
PermissionError: [Errno 13] Permission denied: '/etc/shells'
PermissionError: [Errno 1] Operation not permitted: chmod '/srv/a'
cat: /etc/shadow: Permission denied
/usr/bin/sh: 1: cannot create /srv/made/a: Permission denied
--- 2026-01-02 20:20:09 sandbox: permission denied: wanted to connect to evil.example:443
connect EACCES 93.184.216.34:443 - Local (undefined:undefined)
OSError: [Errno 1] Operation not permitted: socket
fork: retry: Resource temporarily unavailable
type=1423 msg=audit(1.2:3): domain=1a blockers=fs.write_file,fs.truncate path="/home/me/.bashrc" dev="vda1" ino=7
type=1423 msg=audit(1.2:4): domain=1a blockers=scope.signal opid=1 ocomm="init"
all is well at /home/me/.ssh/id_rsa
"#;
    let found = Denial::in_text(text, Some(Path::new("/home/me")));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn a_flood_of_denials_is_bounded() {
    let flood: String = (0..10_000)
        .map(|n| format!("EACCES: open '/x/{n}'\n"))
        .collect();
    assert_eq!(Denial::in_text(&flood, None).len(), 100);
    let long = format!("EACCES {}", "'/é".repeat(100_000));
    assert!(Denial::in_text(&long, None).len() <= 1);
}

#[test]
fn no_rule_is_proposed_for_keys_credentials_or_a_whole_home() {
    let home = Some(Path::new("/home/me"));
    for path in [
        "/home/me",
        "/home/me/",
        "/home/other",
        "/home/other/.ssh/config",
        "/home/me/.ssh",
        "/home/me/.gnupg/private-keys-v1.d/x",
        "/home/me/.aws/credentials",
        "/home/me/.config/gcloud/x.db",
        "/home/me/.cargo/credentials.toml",
        "/home/me/work/../.ssh/id_rsa",
        "/srv/app/prod.env",
        "/srv/app/server.key",
        "/home/me/.local/share/keyrings/login.keyring",
        "/home/me/.config",
        "/proc/1/environ",
        "/run/user/1000/bus",
        "/",
        "/etc",
    ] {
        for call in ["open", "scandir", "mkdir"] {
            let text = format!("Error: EACCES: permission denied, {call} '{path}'");
            let found = Denial::in_text(&text, home);
            assert_eq!(found[0].wanted.rule(), None, "{call} {path}");
            assert!(found[0].wanted.is_precious(), "{call} {path}");
        }
    }
    let made = Wanted::Write("/home/other/notes".to_owned());
    assert_eq!(made.rule(), None, "its folder is a home");
    for path in ["/home/me/work", "/srv/data/a.txt", "/etc/shells"] {
        let wanted = Wanted::Read(path.to_owned());
        assert_eq!(wanted.rule(), Some(("read", path)));
    }
}
