//! No process outlives the program: neither its servers nor what they start.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Desk;
use crate::program::path;
use crate::serve::House;

/// A desk with a server that starts two processes, of which one leaves its group and session.
fn desk() -> Desk {
    let desk = Desk::new();
    let home = desk.home().display();
    let script = format!(
        "exec 3>&1 >/dev/null 2>&1
        sh -c 'while :; do sleep 1; done' '{home} in' 3>&- </dev/null &
        setsid sh -c 'while :; do sleep 1; done' '{home} out' 3>&- </dev/null &
        exec \"{}\" demo-server >&3",
        path()
    );
    let added = desk.run(&["servers", "add", "parent", "--", "sh", "-c", &script]);
    assert!(added.status.success(), "{added:?}");
    desk
}

/// A desk with a server that starts a process in a session of its own and with an empty
/// environment: nothing marks it as ours but its descent.
fn desk_with_a_daemon() -> Desk {
    let desk = Desk::new();
    let home = desk.home().display();
    let script = format!(
        "exec 3>&1 >/dev/null 2>&1
        env -i setsid /bin/sh -c 'while :; do /bin/sleep 1; done' '{home} bare' 3>&- </dev/null &
        exec \"{}\" demo-server >&3",
        path()
    );
    let added = desk.run(&["servers", "add", "parent", "--", "sh", "-c", &script]);
    assert!(added.status.success(), "{added:?}");
    desk
}

/// Which of the processes of this desk's servers are there now. Servers have an environment of
/// their own, so the desk is named in the command line.
fn started(desk: &Desk) -> BTreeSet<&'static str> {
    let home = desk.home().display().to_string();
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    let loops = lines.filter(|line| line.trim_start_matches("/bin/").starts_with("sh -c while"));
    let which = |line: String| {
        let mut ends = ["in", "out", "bare"].into_iter();
        ends.find(|end| line.contains(&format!("{home} {end} ")))
    };
    loops.filter_map(which).collect()
}

/// Nothing of this desk is there any more.
#[track_caller]
fn assert_nothing_left(desk: &Desk) {
    assert_eq!(started(desk), BTreeSet::new());
    desk.assert_nothing_left();
}

/// Waits until the server has started both.
#[track_caller]
fn until_started(desk: &Desk) {
    until_running(desk, 2);
}

#[track_caller]
fn until_running(desk: &Desk, count: usize) {
    for _ in 0..1000 {
        if started(desk).len() == count {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("only {:?}", started(desk));
}

fn begin(desk: &Desk, arguments: &[&str]) -> Child {
    let mut command = desk.command(arguments);
    let stdin = match arguments {
        // What is piped in beside a message is waited for.
        ["run", ..] => Stdio::null(),
        _ => Stdio::piped(),
    };
    command
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn what_a_killed_program_left_is_ended_by_the_next_one() {
    let desk = desk();
    let mut killed = begin(&desk, &["chat"]);
    until_started(&desk);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(
        started(&desk).len(),
        2,
        "nothing was left: this test shows nothing"
    );
    let next = desk.run(&["tools", "demo"]);
    assert!(next.status.success());
    assert_nothing_left(&desk);
    let note = String::from_utf8(next.stderr).unwrap();
    assert!(note.contains("an earlier run left behind"), "{note}");
}

#[test]
fn a_program_leaves_alone_what_another_one_that_lives_has_started() {
    let desk = desk();
    let mut living = begin(&desk, &["chat"]);
    until_started(&desk);
    let mut command = desk.command(&["tools", "parent"]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(started(&desk).len(), 2);
    drop(living.stdin.take());
    assert!(living.wait().unwrap().success());
    assert_nothing_left(&desk);
}

#[test]
fn every_signal_ends_everything_in_every_verb() {
    let desk = desk();
    let chat: &[&str] = &["chat"];
    let call: &[&str] = &["call", "parent", "slow", "ms=60000"];
    let run: &[&str] = &["run", "please be slow", "--approve", "auto"];
    let cases = [
        (chat, Signal::SIGTERM, 143),
        (chat, Signal::SIGHUP, 129),
        (call, Signal::SIGTERM, 143),
        (call, Signal::SIGINT, 130),
        (run, Signal::SIGTERM, 143),
    ];
    for (arguments, signal, exit) in cases {
        let mut child = begin(&desk, arguments);
        until_started(&desk);
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), Some(exit), "{arguments:?} {signal}");
        assert_nothing_left(&desk);
    }
}

#[test]
fn serve_ends_everything_when_it_is_asked_to_end() {
    let mut house = House::at(desk(), &[]);
    for _ in 0..2 {
        house.say(
            &serde_json::json!({"approvalMode": "auto"}),
            "please be slow",
        );
        until_started(&house.desk);
        house.stop();
        assert_nothing_left(&house.desk);
        house.start();
    }
    house.stop();
}

#[test]
fn a_verb_that_ends_by_itself_leaves_nothing() {
    let desk = desk();
    for arguments in [
        &["tools", "parent"][..],
        &["doctor"],
        &["call", "parent", "add", "a=1", "b=2"],
    ] {
        let ran = desk.run(arguments);
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        assert_nothing_left(&desk);
    }
    let records = std::fs::read_dir(desk.home().join("processes"))
        .unwrap()
        .count();
    assert_eq!(records, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_in_its_own_session_without_our_environment_ends_with_the_program() {
    let desk = desk_with_a_daemon();
    let mut ended = begin(&desk, &["chat"]);
    until_running(&desk, 1);
    drop(ended.stdin.take());
    assert!(ended.wait().unwrap().success());
    assert_nothing_left(&desk);
    let mut stopped = begin(&desk, &["chat"]);
    until_running(&desk, 1);
    let pid = Pid::from_raw(i32::try_from(stopped.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(stopped.wait().unwrap().code(), Some(143));
    assert_nothing_left(&desk);
}

#[test]
fn the_browser_that_was_opened_outlives_the_program() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::new();
    let (bin, opened) = (desk.home().join("bin"), desk.home().join("opened"));
    std::fs::create_dir(&bin).unwrap();
    let opener = bin.join("xdg-open");
    let script = format!(
        "#!/bin/sh\necho $$ > '{0}.new' && mv '{0}.new' '{0}'\nexec sleep 600\n",
        opened.display()
    );
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut serve = desk.command(&["serve", "--port", "0", "--open"]);
    serve
        .env("PATH", path)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut serve = serve.spawn().unwrap();
    let mut browser = None;
    for _ in 0..1000 {
        browser = std::fs::read_to_string(&opened).ok();
        if browser.is_some() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let browser = browser.expect("no browser was opened");
    kill(
        Pid::from_raw(i32::try_from(serve.id()).unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    assert!(serve.wait().unwrap().success());
    let browser = Pid::from_raw(browser.trim().parse().unwrap());
    kill(browser, Signal::SIGKILL).expect("the browser ended with the program");
}
