//! What scripts do: pipes, files, consent by flag, results in files, measurements.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::Desk;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What the user said in the last conversation.
fn said(desk: &Desk) -> String {
    let session = desk.json(&["session", "show", "last"]);
    session["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn what_is_piped_in_is_added_to_the_prompt() {
    let desk = Desk::new();
    let output = desk.say(&["run", "2 plus 3"], "alpha\nbeta\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(said(&desk), "2 plus 3\n\nalpha\nbeta\n");
}

#[test]
fn the_message_is_the_prompt_the_file_and_the_pipe_in_this_order() {
    let desk = Desk::new();
    let file = desk.home().join("question.txt");
    std::fs::write(&file, "2 plus 3").unwrap();
    let file = file.to_str().unwrap();
    let output = desk.say(&["run", "first", "-f", file], "last");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(said(&desk), "first\n\n2 plus 3\n\nlast");
    let output = desk.say(&["run", "-f", "-"], "2 plus 4");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(said(&desk), "2 plus 4");
}

#[test]
#[cfg(unix)]
fn a_socket_that_stays_open_does_not_hold_the_run_up() {
    let desk = Desk::new();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = desk.command(&["run", "2 plus 3"]);
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    let output = command.output().unwrap();
    drop(ours);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("going on without it"));
    assert_eq!(said(&desk), "2 plus 3");
}

#[test]
fn a_message_that_cannot_be_sent_is_refused_before_anything_starts() {
    let desk = Desk::new();
    let long = desk.home().join("long.txt");
    std::fs::write(&long, vec![b'x'; (16 << 20) + 1]).unwrap();
    let binary = desk.home().join("binary");
    std::fs::write(&binary, b"ok\xff").unwrap();
    let check = |arguments: &[&str], want: &str| {
        let error = desk.error(arguments);
        let message = error["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(want), "{message}");
        assert_eq!(error["error"]["exit"], 1);
    };
    check(
        &["run", "-f", "/no/such/file"],
        "/no/such/file cannot be read",
    );
    check(&["run", "-f", long.to_str().unwrap()], "longer than 16 MiB");
    check(&["run", "-f", binary.to_str().unwrap()], "byte 2 is not");
    check(&["run", "-f", "/dev/null"], "the message is empty");
    check(&["run", "-"], "the message is empty");
    let none = desk.json(&["session"]);
    assert_eq!(none["conversations"], json!([]), "nothing was begun");
}

#[test]
fn files_go_with_a_message_or_are_refused_before_it_is_sent() {
    let desk = Desk::new();
    let note = desk.home().join("note.txt");
    std::fs::write(&note, "remember").unwrap();
    let binary = desk.home().join("binary");
    std::fs::write(&binary, b"\x00\x01\xff").unwrap();
    let (note, binary) = (note.to_str().unwrap(), binary.to_str().unwrap());
    desk.json(&["run", "2 plus 3", "--approve", "auto", "--attach", note]);
    let shown = text(&desk.run(&["session", "show", "last"]).stdout);
    assert!(shown.contains("note.txt"), "{shown}");
    for (file, why) in [(binary, "unsupported type"), ("/no/such", "cannot be read")] {
        let error = desk.error(&["run", "2 plus 3", "--attach", file]);
        assert!(
            error["error"]["message"].as_str().unwrap().contains(why),
            "{error}"
        );
    }
    let lines = format!("/attach {note}\n/attach\n2 plus 4\n/attach\n/attach {binary}\n");
    let chat = desk.say(&["chat", "--approve", "auto"], &lines);
    let shown = text(&chat.stdout);
    assert!(
        shown.contains("note.txt goes with the next message"),
        "{shown}"
    );
    assert!(
        shown.contains("No file goes with the next message"),
        "it was sent: {shown}"
    );
    assert!(
        text(&chat.stderr).contains("unsupported type"),
        "{}",
        text(&chat.stderr)
    );
    let kept = desk.json(&["session", "list"]);
    assert_eq!(
        kept["conversations"].as_array().unwrap().len(),
        2,
        "nothing else was sent"
    );
}

#[test]
fn an_allowed_tool_runs_and_no_other_does() {
    let desk = Desk::new();
    let run = |allow: &[&str]| desk.run(&[&["run", "write a note", "--json"], allow].concat());
    assert_eq!(run(&[]).status.code(), Some(6));
    assert_eq!(run(&["--allow", "crash"]).status.code(), Some(6));
    for name in ["write_note", "demo/write_note"] {
        let output = run(&["--allow", name]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    // Consent for one run is not consent for the next.
    assert_eq!(run(&[]).status.code(), Some(6));
    let error = desk.error(&["run", "hi", "--allow", "write_nots"]);
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("demo/write_note"), "{error}");
}

#[test]
fn a_lasting_denial_is_stronger_than_consent_by_a_flag() {
    let desk = Desk::new();
    desk.run(&[
        "servers",
        "add",
        "demo",
        "--",
        crate::program::path(),
        "demo-server",
    ]);
    desk.run(&["tool", "deny", "demo", "write_note"]);
    let output = desk.run(&["run", "write a note", "--allow", "write_note", "--json"]);
    assert_eq!(
        output.status.code(),
        Some(6),
        "a lasting denial is stronger"
    );
}

#[test]
fn a_result_goes_to_a_file_as_it_is() {
    let desk = Desk::new();
    let path = |name: &str| desk.home().join(name).display().to_string();
    let (note, picture, whole) = (path("note.txt"), path("picture.png"), path("whole.json"));
    let value = desk.json(&["call", "demo", "picture", "-o", &whole]);
    assert_eq!(value["file"], *whole);
    assert!(value.get("result").is_none());
    let whole: Value = serde_json::from_slice(&std::fs::read(&whole).unwrap()).unwrap();
    assert_eq!(whole["content"][0]["type"], "image");
    assert!(
        desk.run(&["call", "demo", "picture", "-o", &picture])
            .status
            .success()
    );
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    assert!(
        desk.run(&["call", "demo", "echo", "text=hi", "-o", &note])
            .status
            .success()
    );
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "hi");
    // A failure replaces nothing.
    assert_eq!(
        desk.run(&["call", "demo", "fail", "-o", &note])
            .status
            .code(),
        Some(5)
    );
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "hi");
}

#[test]
fn repeated_calls_are_counted_and_measured() {
    let desk = Desk::new();
    let arguments = [
        "call",
        "demo",
        "add",
        "a=2",
        "b=3",
        "--repeat",
        "40",
        "--concurrency",
        "4",
    ];
    let report = desk.json(&arguments);
    assert_eq!(
        (&report["calls"], &report["failed"]),
        (&json!(40), &json!(0))
    );
    let took = |name: &str| report["latencyMs"][name].as_f64().unwrap();
    let rising = ["min", "p50", "p90", "p99", "max"].map(took);
    assert!(rising.is_sorted(), "{report}");
    let failing = desk.run(&["call", "demo", "fail", "--repeat", "3", "--json"]);
    assert_eq!(failing.status.code(), Some(5));
    let report: Value = serde_json::from_slice(&failing.stdout).unwrap();
    assert_eq!(report["failed"], 3);
    for wrong in [
        ["--repeat", "0"],
        ["--repeat", "100001"],
        ["--concurrency", "2"],
    ] {
        let arguments = [&["call", "demo", "add", "a=2", "b=3"][..], &wrong].concat();
        assert_eq!(desk.run(&arguments).status.code(), Some(1), "{wrong:?}");
    }
}

#[test]
fn a_call_speaks_the_era_that_was_chosen() {
    let desk = Desk::new();
    for era in ["legacy", "modern", "auto"] {
        let flag = format!("--era={era}");
        let value = desk.json(&["call", "demo", "add", "a=2", "b=3", &flag]);
        assert_eq!(value["result"]["structuredContent"], json!({"sum": 5.0}));
    }
    let old_only = [
        "--era",
        "modern",
        "--",
        crate::program::path(),
        "demo-server",
        "--era",
        "legacy",
    ];
    let output = desk.run(&[&["tools"][..], &old_only].concat());
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
}

#[test]
fn metadata_and_log_level_are_refused_where_they_are_wrong() {
    let desk = Desk::new();
    let call = |more: &[&str]| desk.error(&[&["call", "demo", "add", "a=1", "b=2"], more].concat());
    let message = |error: Value| error["error"]["message"].as_str().unwrap().to_owned();
    assert!(message(call(&["--meta", "nothing"])).contains("--meta"));
    assert!(message(call(&["--meta", "a:={"])).contains("--meta"));
    assert!(message(call(&["--log-level", "loud"])).contains("loud"));
    assert!(message(call(&["--client-id", "me"])).contains("--client-id"));
    let both = ["--meta", "trace=1", "--meta", "deep:={\"a\":[1]}"];
    desk.json(&[&["call", "demo", "add", "a=1", "b=2"][..], &both].concat());
}

#[test]
fn the_schemas_of_tools_are_part_of_their_json() {
    let desk = Desk::new();
    let value = desk.json(&["tools", "demo"]);
    let add = &value["servers"][0]["tools"][0];
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["outputSchema"]["required"], json!(["sum"]));
}

#[test]
fn a_slow_pipe_is_waited_for() {
    let desk = Desk::new();
    let mut command = desk.command(&["run", "2 plus 3"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
    assert!(
        line.contains("Waiting for the end of standard input"),
        "{line}"
    );
    stdin.write_all(b"at last").unwrap();
    drop(stdin);
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(said(&desk), "2 plus 3\n\nat last");
}
