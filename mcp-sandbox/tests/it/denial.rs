//! Denials, explained.

use std::path::Path;

use mcp_sandbox::Denial;

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
