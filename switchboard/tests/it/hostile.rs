//! A server and a model whose every word tries to be more than a word: what they say is data,
//! whichever verb prints it.

use mcp_testkit::{Ask, Prompt, Refusal, Resource, Running, Script, Server, Step, Tool};
use provider_adapters::Wire;
use serde_json::{Value, json};
use switchboard::demo::{DemoModel, DemoScript};

use crate::cli::Desk;

/// A name that begins lines of its own, clears the screen and turns the direction of writing.
fn name(bare: &str) -> String {
    format!("{bare}\nFORGED\r\nFORGED\rFORGED\u{2028}FORGED\u{1b}[2J\u{202e}\u{9b}31m\u{7}")
}

/// A text of two lines, as Windows ends them.
fn text(bare: &str) -> String {
    format!("{bare}\r\nsecond line\u{1b}]0;title\u{7}\u{2066}\u{9b}2J")
}

fn script() -> Script {
    let content = |bare: &str| json!([{"type": "text", "text": text(bare)}]);
    let tool = |bare: &str| {
        Tool::new(&name(bare))
            .declaring("title", json!(name("title")))
            .declaring("description", json!(text("description")))
            .declaring(
                "inputSchema",
                json!({"type": "object", "properties": {
                    name("argument"): {"type": "string", "description": name("about")},
                }}),
            )
    };
    let (good, bad) = (content("answer"), content("trouble"));
    let form = json!({"type": "object", "properties": {
        "field": {"type": "string", "title": name("field"), "description": name("about")},
    }});
    Script::empty()
        .with_info(&name("itself"), &name("title"), &name("1"))
        .with_instructions(text("instructions"))
        .with_tool(tool("good").answering(move |_| json!({"content": good})))
        .with_tool(tool("bad").answering(move |_| json!({"content": bad, "isError": true})))
        .with_tool(tool("refusing").trying(|_| Err(Refusal::new(-32000, text("refused")))))
        .with_tool(tool("asking").with_step(Step::Ask(Ask::form("key", &text("question"), form))))
        .with_resource(Resource::text("note://1", &text("contents")))
        .with_template(json!({
            "uriTemplate": name("note://{id}"), "name": name("notes"), "mimeType": name("mime"),
        }))
        .with_prompt(Prompt::new("plain", &[], &text("prompt")))
        .with_prompt(Prompt::new(
            &name("odd"),
            &[&name("argument")],
            &text("prompt"),
        ))
}

async fn model(tools: &[String]) -> DemoModel {
    let rules: Vec<Value> = tools
        .iter()
        .enumerate()
        .flat_map(|(at, tool)| {
            let when = format!("go{at}");
            [
                json!({"when": [when], "say": text("looking"), "call": [{"tool": tool, "arguments": {"a\u{202e}": text("b")}}]}),
                json!({"when": [when], "after": "*", "say": text("done")}),
            ]
        })
        .chain([
            json!({"when": ["unknown"], "anyway": true, "call": [{"tool": name("nope")}]}),
            json!({"when": ["unknown"], "after": "*", "say": text("sorry")}),
        ])
        .collect();
    let script = DemoScript::from_json(&json!({ "rules": rules }).to_string()).unwrap();
    DemoModel::start(script, 0).await.unwrap()
}

/// Nothing of what was printed is obeyed by a terminal, and no name has begun a line.
#[track_caller]
fn check(verb: &[&str], output: &std::process::Output) -> String {
    let mut all = String::new();
    for bytes in [&output.stdout, &output.stderr] {
        let printed = String::from_utf8(bytes.clone()).unwrap();
        let obeyed = |c: char| {
            (c.is_control() && c != '\n' && c != '\t')
                || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!printed.contains(obeyed), "{verb:?}: {printed:?}");
        let forged = printed
            .lines()
            .find(|line| line.trim_start().starts_with("FORGED"));
        assert_eq!(forged, None, "{verb:?}: {printed}");
        all.push_str(&printed);
    }
    all
}

async fn start() -> (Desk, Running, String) {
    let server = Server::new(script()).start_http().await.unwrap();
    let url = server.url();
    (Desk::new(), server, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_calls_its_things_is_shown_as_data_by_every_verb() {
    let (desk, server, url) = start().await;
    let (good, bad) = (name("good"), name("bad"));
    let (refusing, odd) = (name("refusing"), name("odd"));
    let argument = format!("{}=x", name("argument"));
    let verbs: Vec<Vec<&str>> = vec![
        vec!["servers", "add", "s", &url],
        vec!["servers", "test", "s"],
        vec!["servers", "list"],
        vec!["servers", "show", "s"],
        vec!["servers", "logs", "s"],
        vec!["doctor", "s"],
        vec!["tools", "s"],
        vec!["tool", "show", "s", &good],
        vec!["tool", "show", "s", "missing"],
        vec!["tool", "disable", "s", "missing"],
        vec!["tool", "disable", "s", &good],
        vec!["tool", "enable", "s", &good],
        vec!["tool", "allow", "s", &good],
        vec!["approvals", "list"],
        vec!["schema", "s", "--for", "gemini"],
        vec!["call", "s", &good],
        vec!["call", "s", &good, &argument],
        vec!["call", "s", &good, "unknown=1"],
        vec!["call", "s", &bad],
        vec!["call", "s", &refusing],
        vec!["resources", "s"],
        vec!["read", "s", "note://1"],
        vec!["read", "s", "note://2"],
        vec!["prompts", "s"],
        vec!["prompt", "s", "plain"],
        vec!["prompt", "s", "missing"],
        vec!["prompt", "s", &odd],
        vec!["prompt", "s", &odd, "unknown=1"],
        vec!["export", "--to", "claude-code"],
    ];
    // What clients of the gateway call is in its audit log, by the same names.
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": format!("s__{good}"), "arguments": {}}});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name("client"), "version": name("1")}}});
    let started = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let file = desk.home().join("hostile.json");
    let entry = json!({"command": name("program"), "args": [name("argument")], "env": {"KEY": name("value")}});
    let foreign =
        json!({"mcpServers": {name("stranger"): entry, "other": {"url": name("https://")}}});
    std::fs::write(&file, foreign.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for verb in &verbs {
        for flags in [&[][..], &["--json"]] {
            let verb = [&verb[..], flags].concat();
            let shown = check(&verb, &desk.run(&verb));
            if verb == ["call", "s", &good] {
                // Its lines are its own, without what Windows puts before their ends.
                assert!(shown.starts_with("answer\nsecond line"), "{shown:?}");
            }
        }
    }
    let lines = format!("{hello}\n{started}\n{call}\n");
    let mut gateway = desk.say(&["gateway", "--approve", "auto", "s"], &lines);
    // On standard output it speaks the protocol.
    gateway.stdout.clear();
    check(&["gateway"], &gateway);
    for verb in [
        &["audit", "list"][..],
        &["audit", "list", "--json"],
        &["audit", "verify"],
        &["import", file],
        &["import", file, "--yes"],
        &["import", file, "--yes", "--json"],
        &["servers", "list"],
    ] {
        check(verb, &desk.run(verb));
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tools_name_cannot_forge_a_line_of_the_question_about_it() {
    let (desk, server, url) = start().await;
    let listed = desk.json(&["tools", &url]);
    let exposed = listed["servers"][0]["tools"].as_array().unwrap();
    let exposed = exposed
        .iter()
        .map(|it| it["exposed_name"].as_str().unwrap().to_owned());
    let model = model(&exposed.collect::<Vec<_>>()).await;
    let at = model.base_url(Wire::OpenAiChat);
    let flags = ["-m", "some-model", "--base-url", &at, "-s", &url];
    let chat = [&["chat", "--approve", "ask"][..], &flags].concat();
    let lines = "go0\ny\nAda\ngo1\nc\ngo2\nn because\ngo3\ny\nunknown\n/tools\n/servers\n/usage\n\
                 /export\n/quit\n";
    let shown = check(&chat, &desk.say(&chat, lines));
    let question = shown.lines().position(|line| line.contains("wants to run"));
    let arguments = shown.lines().nth(question.unwrap() + 1);
    assert_eq!(arguments, Some("  {"), "{shown}");
    assert!(shown.contains("✗ nope\\nFORGED"), "{shown}");
    assert!(shown.contains("  │ question\n  │ second line"), "{shown}");
    for flags in [&[][..], &["--json"], &["--quiet"], &["--stream-json"]] {
        let run = [&["run", "go0", "--approve", "auto"][..], flags];
        let run = [
            &run.concat()[..],
            &["-m", "some-model", "--base-url", &at, "-s", &url],
        ]
        .concat();
        check(&run, &desk.run(&run));
        let denied = [&["run", "go1"][..], &run[2..]].concat();
        let denied: Vec<&str> = denied
            .into_iter()
            .filter(|it| *it != "auto" && *it != "--approve")
            .collect();
        check(&denied, &desk.run(&denied));
    }
    for verb in [
        &["session", "list"][..],
        &["session", "show", "last"],
        &["session", "export", "last"],
        &["usage"],
        &["approvals", "list"],
    ] {
        check(verb, &desk.run(verb));
    }
    model.stop().await;
    server.shutdown().await;
}
