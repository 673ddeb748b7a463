//! Any text as a file of servers: it is read or refused, what is written is read again as it was,
//! and no entry hides another.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_config::ServerConfig;
use mcp_config::{ConfigFile, Dialect, Variable};
use serde_json::{Map, Value, json};

const DIALECTS: [Dialect; 9] = [
    Dialect::Plain,
    Dialect::ClaudeDesktop,
    Dialect::ClaudeCode,
    Dialect::VsCode,
    Dialect::Cursor,
    Dialect::Cline,
    Dialect::Gemini,
    Dialect::OpenCode,
    Dialect::Codex,
];

fuzz_target!(|text: &str| {
    for dialect in DIALECTS {
        match ConfigFile::read(text, dialect) {
            Ok(file) => {
                let written = file.write(dialect);
                let again = ConfigFile::read(&written, dialect)
                    .unwrap_or_else(|problem| panic!("{dialect:?}: {problem}\n{written}"));
                // Others have not a word for everything.
                match dialect {
                    Dialect::Plain => assert_eq!(meant(&again), meant(&file), "{written}"),
                    _ => assert_eq!(names(&again), names(&file), "{dialect:?}\n{written}"),
                }
            }
            Err(problem) => assert!(problem.place.line >= 1 && problem.place.column >= 1),
        }
    }
    if let Ok(Value::Object(root)) = serde_json::from_str(text)
        && let Some(Value::Object(servers)) = root.get("mcpServers")
    {
        each_for_itself(servers);
    }
});

fn names(file: &ConfigFile) -> Vec<&str> {
    let servers = file.servers().iter();
    servers.map(|server| server.name().as_str()).collect()
}

/// The servers with every variable replaced: how a variable is spelt, dialects differ in.
fn meant(file: &ConfigFile) -> Vec<ServerConfig> {
    let known = |variable: Variable<'_>| Some(format!("{variable:?}"));
    file.resolve(&known).servers
}

/// What loads alone, loads in any company.
fn each_for_itself(servers: &Map<String, Value>) {
    let read = |servers: Value| {
        let text = json!({ "mcpServers": servers }).to_string();
        ConfigFile::read(&text, Dialect::Plain).expect("JSON")
    };
    let together = read(Value::Object(servers.clone()));
    for (name, entry) in servers.iter().filter(|(_, entry)| entry.is_object()) {
        for server in read(json!({ name: entry })).servers() {
            assert!(together.servers().contains(server), "{server:?}");
        }
    }
}
