//! Talking through pipes.

use serde_json::Value;

use super::{Desk, steady};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_first_run_says_that_it_is_a_demo_and_chats() {
    let desk = Desk::new();
    let output = desk.say(&[], "what time is it?\n/quit\n");
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("demo model, which is not an AI"), "{shown}");
    assert!(!shown.contains("wants to run"), "it only reads: {shown}");
    assert!(shown.contains("→ demo · get_time"), "{shown}");
    assert!(shown.contains("get_time answered:"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe: {shown:?}");
}

#[test]
fn run_prints_the_answer_alone_on_standard_output() {
    let desk = Desk::new();
    let output = desk.run(&["run", "2 plus 3", "--approve", "auto"]);
    assert_eq!(output.status.code(), Some(0));
    let answer = text(&output.stdout);
    assert!(
        answer.contains("add answered:") && !answer.contains('→'),
        "{answer}"
    );
    assert!(
        text(&output.stderr).contains("→ demo · add"),
        "{}",
        text(&output.stderr)
    );
    let quiet = desk.run(&["run", "2 plus 3", "--approve", "auto", "--quiet"]);
    assert_eq!(text(&quiet.stdout).trim(), answer.trim());
    assert_eq!(text(&quiet.stderr), "");
}

#[test]
fn run_reads_its_prompt_from_standard_input() {
    let output = Desk::new().say(&["run", "-", "--approve", "auto"], "2 plus\n3");
    assert!(text(&output.stdout).contains("add answered:"));
}

#[test]
fn what_no_one_can_approve_is_denied_with_exit_6() {
    let desk = Desk::new();
    let output = desk.run(&["run", "write a note", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["toolCalls"][0]["status"], "denied");
    assert!(
        value["text"].as_str().unwrap().contains("not allowed"),
        "{value}"
    );
}

#[test]
fn a_limit_is_exit_7() {
    let output = Desk::new().run(&["run", "2 plus 3", "--approve", "auto", "--max-rounds", "1"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
}

#[test]
fn run_as_json_is_one_object() {
    let desk = Desk::new();
    let value = desk.json(&["run", "2 plus 3", "--approve", "auto"]);
    insta::assert_json_snapshot!(steady(value));
}

#[test]
fn a_stream_of_json_tells_everything_line_by_line() {
    let desk = Desk::new();
    let lines = |arguments: &[&str]| -> Vec<String> {
        let output = desk.run(arguments);
        let kind = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["type"].as_str().unwrap().to_owned()
        };
        let mut kinds: Vec<String> = text(&output.stdout).lines().map(kind).collect();
        kinds.dedup();
        kinds
    };
    let run = ["run", "2 plus 3", "--approve", "auto", "--stream-json"];
    let kinds = lines(&run);
    assert_eq!(kinds.first().map(String::as_str), Some("round"));
    assert_eq!(kinds.last().map(String::as_str), Some("done"));
    for kind in ["call", "usage", "settled", "text"] {
        assert!(kinds.iter().any(|it| it == kind), "{kind} in {kinds:?}");
    }
    let chunks = lines(&[&run[..], &["--compat", "chunks"]].concat());
    let want = [
        "mcp_tool_in_progress",
        "mcp_tool_call_begin",
        "mcp_tool_call_response",
        "mcp_tool_complete",
        "text_delta",
    ];
    assert_eq!(chunks, want);
}

#[test]
fn every_answer_to_an_approval_does_what_it_says() {
    for (answer, runs, asks_again, rules) in [
        ("y", true, true, 0),
        ("c", true, false, 0),
        ("t", true, false, 1),
        ("n not today", false, true, 0),
        ("d", false, false, 1),
    ] {
        let desk = Desk::new();
        let lines = format!("write a note\n{answer}\nwrite a note\ny\n/quit\n");
        let output = desk.say(&["chat"], &lines);
        let shown = text(&output.stdout);
        let ran = shown.matches("→ demo · write_note").count();
        let asked = shown.matches("demo wants to run write_note").count();
        let again = usize::from(asks_again);
        assert_eq!(asked, 1 + again, "{answer}: {shown}");
        let runs = usize::from(runs);
        let second = match answer {
            "d" => 0,
            _ => 1,
        };
        assert_eq!(ran, runs + second, "{answer}: {shown}");
        let list = desk.json(&["approvals", "list"]);
        assert_eq!(
            list["approvals"].as_array().unwrap().len(),
            rules,
            "{answer}"
        );
    }
}

#[test]
fn a_denial_with_a_reason_reaches_the_model() {
    let desk = Desk::new();
    desk.say(&["chat"], "write a note\nn not on a Friday\n/quit\n");
    let session = desk.json(&["session", "show", "last"]);
    let call = &session["messages"][1]["toolCalls"][0];
    assert_eq!(call["status"], "denied");
    assert!(
        call["response"].to_string().contains("not on a Friday"),
        "{call}"
    );
}

#[test]
fn edited_arguments_are_used_and_stored() {
    let desk = Desk::new();
    desk.say(
        &["chat", "--approve", "ask"],
        "2 plus 3\ne\n{\"a\": 40, \"b\": 2}\n/quit\n",
    );
    let session = desk.json(&["session", "show", "last"]);
    let call = &session["messages"][1]["toolCalls"][0];
    assert!(call["response"].to_string().contains("42"), "{call}");
}

#[test]
fn an_image_is_saved_and_its_path_shown() {
    let desk = Desk::new();
    let output = desk.say(&["chat", "--approve", "auto"], "draw a picture\n/quit\n");
    let shown = text(&output.stdout);
    let path = shown
        .split("saved as ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    assert!(
        std::fs::read(path).unwrap().starts_with(b"\x89PNG"),
        "{path}"
    );
}

#[test]
fn a_server_asks_and_the_answer_reaches_it() {
    let desk = Desk::new();
    let output = desk.say(
        &["chat", "--approve", "auto"],
        "ask me my name\nAda\n/quit\n",
    );
    let shown = text(&output.stdout);
    assert!(shown.contains("demo · ask_name asks:"), "{shown}");
    assert!(shown.contains("Ada"), "{shown}");
}

#[test]
fn lines_of_a_pipe_are_messages_and_answer_no_question() {
    use std::io::Write as _;
    use std::process::Stdio;

    let desk = Desk::new();
    for (message, asked) in [("write a note", "wants to run"), ("ask me my name", "")] {
        let mut command = desk.command(&["chat", "--approve", "ask"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = format!("{message}\ny\ny\ny\n");
        // A program that has ended reads no more.
        let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
        let output = child.wait_with_output().unwrap();
        let shown = text(&output.stdout);
        assert!(
            shown.contains(asked) && !shown.contains("→ demo"),
            "{shown}"
        );
        assert_eq!(output.status.code(), Some(6), "{shown}");
        let hint = text(&output.stderr);
        assert!(hint.contains("--answers-from-stdin"), "{hint}");
    }
}

#[test]
fn a_result_shown_in_part_is_saved_whole() {
    let desk = Desk::new();
    let file = desk.home().join("my result.txt");
    let lines = format!(
        "a big text of 1000000 letters\n2 plus 3\n/save {}\n/save 99 nowhere\n/quit\n",
        file.display()
    );
    let output = desk.say(&["chat", "--approve", "auto"], &lines);
    let shown = text(&output.stdout);
    assert!(shown.contains("FILE saves the whole result"), "{shown}");
    assert!(shown.contains("1000000 bytes written"), "{shown}");
    assert!(shown.contains("No result of call 99"), "{shown}");
    assert_eq!(std::fs::read(file).unwrap().len(), 1_000_000);
}

#[test]
fn an_export_has_a_result_whole_that_was_shown_in_part() {
    let desk = Desk::new();
    let file = desk.home().join("chat.md").display().to_string();
    let lines = format!("a big text of 1000000 letters\n/export {file}\n/quit\n");
    desk.say(&["chat", "--approve", "auto"], &lines);
    assert!(std::fs::read(&file).unwrap().len() > 1_000_000);
    let exported = desk.json(&["session", "export", "last", "--format", "json"]);
    let response = &exported["messages"][1]["toolCalls"][0]["response"];
    let text = response["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 1_000_000);
}

#[test]
fn files_go_again_with_a_message_that_is_answered_anew_or_taken_back() {
    let desk = Desk::new();
    let file = desk.home().join("cat.png");
    std::fs::write(&file, b"\x89PNG\r\n\x1a\n and what else a picture has").unwrap();
    let lines = format!(
        "/attach {}\nHm.\n/retry\n/undo\nHm?\n/quit\n",
        file.display()
    );
    let output = desk.say(&["chat"], &lines);
    let shown = text(&output.stdout);
    assert_eq!(shown.matches("I was shown: 1.").count(), 3, "{shown}");
    assert!(shown.contains("cat.png  image/png"), "{shown}");
    let list = desk.json(&["session", "list"]);
    let sessions = list["conversations"].as_array().unwrap();
    assert_eq!(
        sessions.len(),
        2,
        "taken back in a new one, tried again in the same: {list}"
    );
    for row in sessions {
        let session = desk.json(&["session", "show", row["id"].as_str().unwrap()]);
        let messages = session["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2, "{session}");
        assert_eq!(messages[0]["attachments"][0]["name"], "cat.png");
    }
}

#[test]
fn a_question_that_no_one_answers_stays_open() {
    let desk = Desk::new();
    let output = desk.say(&["chat"], "write a note\n");
    assert_eq!(output.status.code(), Some(6));
    let list = desk.json(&["session", "list"]);
    assert_eq!(list["conversations"][0]["waiting"], true);
}

#[test]
fn recorded_answers_are_played_back_without_a_model() {
    let desk = Desk::new();
    let cassette = desk.home().join("cassette.json");
    let cassette = cassette.to_str().unwrap();
    let ask = ["run", "2 plus 3", "--approve", "auto", "--quiet"];
    let recorded = desk.run(&[&ask[..], &["--record", cassette]].concat());
    let played = desk.run(&[&ask[..], &["--replay", cassette]].concat());
    assert_eq!(played.status.code(), Some(0), "{}", text(&played.stderr));
    assert_eq!(text(&played.stdout), text(&recorded.stdout));
    let other = desk.run(&["run", "something else", "--replay", cassette]);
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn flags_and_assistants_say_how_the_model_answers_and_the_flag_wins() {
    let desk = Desk::new();
    let cassette = desk.home().join("cassette.json");
    let asked = |more: &[&str]| {
        let _ = std::fs::remove_file(&cassette);
        let record = ["run", "hello", "--record", cassette.to_str().unwrap()];
        let ran = desk.run(&[&record[..], more].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        std::fs::read_to_string(&cassette)
            .unwrap()
            .replace(['\\', ' '], "")
    };
    let add = [
        "assistants",
        "add",
        "Calm",
        "--temperature",
        "0.5",
        "--max-tokens",
        "77",
    ];
    assert_eq!(desk.run(&add).status.code(), Some(0));
    let flags = ["--temperature", "0.25", "--max-tokens", "99"];
    let by_flags = asked(&flags);
    assert!(
        by_flags.contains("\"temperature\":0.25") && by_flags.contains(":99"),
        "{by_flags}"
    );
    let by_assistant = asked(&["-a", "Calm", "--temperature", "0.75"]);
    assert!(
        by_assistant.contains("\"temperature\":0.75"),
        "{by_assistant}"
    );
    assert!(by_assistant.contains(":77"), "{by_assistant}");
    assert!(!asked(&[]).contains("temperature"));
    for wrong in [
        ["--temperature", "3"],
        ["--effort", "some"],
        ["--max-tokens", "0"],
    ] {
        let refused = desk.run(&[&["run", "hello"][..], &wrong].concat());
        assert_ne!(refused.status.code(), Some(0), "{wrong:?}");
    }
    let edit = ["assistants", "edit", "Calm", "--default-options"];
    assert_eq!(desk.run(&edit).status.code(), Some(0));
    assert!(!asked(&["-a", "Calm"]).contains("temperature"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_refused_is_exit_3_and_an_outage_exit_2() {
    use provider_adapters::Wire;
    use switchboard::demo::{DemoModel, DemoScript};

    let rules = r#"{"rules": [
        {"when": ["key"], "fail": {"status": 401, "message": "bad key"}},
        {"when": ["broken"], "fail": {"status": 400, "message": "no such thing"}}]}"#;
    let model = DemoModel::start(DemoScript::from_json(rules).unwrap(), 0)
        .await
        .unwrap();
    let url = model.base_url(Wire::OpenAiChat);
    let desk = Desk::new();
    for (prompt, exit) in [("key", 3), ("broken", 2)] {
        let error = desk.error(&["run", prompt, "--model", "some-model", "--base-url", &url]);
        assert_eq!(error["error"]["exit"], exit, "{error}");
        assert!(
            error["error"]["hint"]
                .as_str()
                .unwrap()
                .contains("--resume"),
            "{error}"
        );
    }
}
