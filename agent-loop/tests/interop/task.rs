//! A task of many steps: list files, read two at once, write one with approval, be denied another,
//! recover from a failing tool, ask a second server.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agent_loop::{
    Agent, Answer, Decision, ManagedTools, Mode, Policy, Reason, Run, RunEvent, Status, Toolbox,
};
use mcp_manager::{Manager, ServerCommand, ServerConfig, Wait};
use provider_adapters::Wire;
use provider_adapters::server::ScriptedReply;
use serde_json::json;

use crate::provider::{Provider, WIRES};

fn installed(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`, which installs servers"),
    }
}

async fn manager(folder: &str) -> Manager {
    let script =
        installed("INTEROP_NODE").join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let script = script.to_str().unwrap().to_owned();
    let files = ServerCommand::new("node").with_args([script, folder.to_owned()]);
    let time = installed("INTEROP_PYTHON").join("mcp-server-time");
    let time = ServerCommand::new(time.to_str().unwrap());
    let manager = Manager::builder().build();
    let servers = [
        ServerConfig::stdio("files".parse().unwrap(), files).trusted(),
        ServerConfig::stdio("time".parse().unwrap(), time),
    ];
    let startup = manager.connect_all(servers, Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    manager
}

fn script(folder: &str) -> Vec<ScriptedReply> {
    let path = |name: &str| format!("{folder}/{name}");
    let call = |reply: ScriptedReply, id: &str, tool: &str, arguments: serde_json::Value| {
        reply.with_call(id, format!("mcp__{tool}"), arguments.to_string())
    };
    let reply = || ScriptedReply::new().with_usage(100, 20);
    let read = |reply, id: &str, name: &str| {
        call(
            reply,
            id,
            "files__read_text_file",
            json!({"path": path(name)}),
        )
    };
    let write = |id: &str, name: &str| {
        let arguments = json!({"path": path(name), "content": "three"});
        call(reply(), id, "files__write_file", arguments)
    };
    let list = reply().with_text("Let me see.");
    vec![
        call(list, "c1", "files__list_directory", json!({"path": folder})),
        read(read(reply(), "c2", "a.txt"), "c3", "b.txt"),
        write("c4", "c.txt"),
        write("c5", "d.txt"),
        read(reply(), "c6", "missing.txt"),
        call(
            reply(),
            "c7",
            "time__get_current_time",
            json!({"timezone": "UTC"}),
        ),
        reply().with_text("Done: one and two, and three was written."),
    ]
}

async fn perform(wire: Wire) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let place = place.to_str().unwrap();
    fs::write(format!("{place}/a.txt"), "one").unwrap();
    fs::write(format!("{place}/b.txt"), "two").unwrap();
    let manager = manager(place).await;
    let provider = Provider::start(script(place)).await;
    let toolbox: Arc<dyn Toolbox> = Arc::new(ManagedTools::new(manager.clone()));
    let agent = Agent::new(provider.model(wire))
        .with_model_name("model")
        .tools(toolbox);
    let mut run = Run::default().with_policy(Policy::new(Mode::AutoRead));
    run.ask("Read a and b, and write their sum to c.");

    let mut asked = Vec::new();
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = event {
            asked.push(approval.record.tool_name.clone());
            let decision = if approval.record.arguments.text().contains("d.txt") {
                Decision::from(Answer::Deny).with_reason("Not that one.")
            } else {
                Decision::from(Answer::Once)
            };
            session.answer(&approval.consent(), decision).await.unwrap();
        }
    }
    drop(session);

    assert_eq!(run.reason(), Some(&Reason::Finished), "{wire}");
    assert_eq!(
        asked,
        ["write_file", "write_file", "get_current_time"],
        "{wire}"
    );
    let records = run.records();
    let statuses: Vec<Status> = records.iter().map(|record| record.status).collect();
    let (done, error, denied) = (Status::Done, Status::Error, Status::Denied);
    assert_eq!(
        statuses,
        [done, done, done, done, denied, error, done],
        "{wire}"
    );
    let text = |at: usize| records[at].response_text().unwrap();
    assert!(
        text(0).contains("a.txt") && text(0).contains("b.txt"),
        "{}",
        text(0)
    );
    assert_eq!((text(1), text(2)), ("one".to_owned(), "two".to_owned()));
    assert!(text(4).contains("Not that one."), "{}", text(4));
    assert!(text(5).contains("ENOENT"), "{}", text(5));
    assert!(text(6).contains("UTC"), "{}", text(6));
    assert_eq!(
        fs::read_to_string(format!("{place}/c.txt")).unwrap(),
        "three"
    );
    assert!(!fs::exists(format!("{place}/d.txt")).unwrap());
    // The model got all of it.
    let last = provider.asked().pop().unwrap();
    assert_eq!(last.answers().len(), 7, "{wire}");
    assert_eq!(last.prompt_mode, wire == Wire::Prompt);
    manager.shutdown().await;
}

#[tokio::test]
async fn a_task_of_many_steps_is_done_on_every_wire_and_in_prompt_mode() {
    for wire in WIRES {
        perform(wire).await;
    }
}
