//! Reads a configuration file in any dialect, reports its problems and its requirements, and writes it in another
//! dialect.
//!
//! ```text
//! cargo run -p mcp-config --example convert_config [FILE]
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use mcp_config::{ConfigFile, Dialect, Variable};

const SAMPLE: &str = r#"{
    // Comments and trailing commas are accepted.
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files-server", "${HOME}"]},
        "issues": {
            "serverUrl": "https://example.com/mcp",
            "headers": {"Authorization": "Bearer ${ISSUES_TOKEN_OF_THIS_EXAMPLE}"},
            "autoApprove": ["list_issues"],
        },
        "typo": {"comand": "npx"},
    },
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    let text = match &path {
        Some(path) => std::fs::read_to_string(path)?,
        None => SAMPLE.to_owned(),
    };
    let dialect = path
        .as_deref()
        .and_then(Dialect::of_path)
        .unwrap_or_default();
    let file = ConfigFile::read(&text, dialect)?;
    for problem in file.problems() {
        println!("! {problem}");
    }
    let resolved = file.resolve(&|variable: Variable<'_>| match variable {
        Variable::Env(name) => std::env::var(name).ok(),
        _ => None,
    });
    for server in &resolved.servers {
        println!("+ {}: {}", server.name(), server.endpoint());
    }
    for server in &resolved.unresolved {
        println!("? {server}");
    }
    println!("\nfor VS Code:\n{}", file.write(Dialect::VsCode));
    Ok(())
}
