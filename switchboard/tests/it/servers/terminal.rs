//! Verbs about servers in a terminal.

use super::bench::Bench;
use crate::cli::Terminal;

#[test]
fn a_servers_question_is_asked_in_the_terminal_with_its_name() {
    let bench = Bench::with_demo();
    let mut terminal = Terminal::of(bench.command(&["call", "demo", "ask_name"]));
    terminal.until("demo asks:");
    terminal.until("Name*:");
    terminal.type_in("Ada\r");
    terminal.until("Ada");
    assert_eq!(terminal.end(), Some(0));
    bench.run(&["servers", "list"]);
}

#[test]
fn progress_is_shown_in_a_terminal() {
    let bench = Bench::with_demo();
    let mut terminal = Terminal::of(bench.command(&["call", "demo", "slow", "ms=5"]));
    terminal.until("5/5");
    terminal.until("Done, slowly.");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn an_import_is_one_yes() {
    let bench = Bench::new();
    bench.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "run"}}}"#,
    );
    let mut terminal = Terminal::of(bench.command(&["import"]));
    terminal.until("new");
    terminal.until("Import 1 server? [y/N] ");
    terminal.type_in("n\r");
    terminal.until("Nothing changed");
    assert_eq!(terminal.end(), Some(0));
    let mut terminal = Terminal::of(bench.command(&["import"]));
    terminal.until("[y/N] ");
    terminal.type_in("y\r");
    terminal.until("Imported 1 server.");
    assert_eq!(terminal.end(), Some(0));
    assert!(
        bench
            .run(&["servers", "show", "a"])
            .stdout
            .contains("untried")
    );
}

#[test]
fn what_an_imported_file_asks_for_is_asked_once() {
    let bench = Bench::new();
    bench.write(
        ".config/Code/User/mcp.json",
        r#"{
            "inputs": [
                {"id": "team", "type": "promptString", "description": "The team"}
            ],
            "servers": {"a": {"command": "sh", "args": ["-c", "true"], "env": {"T": "${input:team}"}}}
        }"#,
    );
    let mut terminal = Terminal::of(bench.command(&["import"]));
    terminal.until("[y/N] ");
    terminal.type_in("y\r");
    terminal.until("a asks: The team (");
    terminal.type_in("red\r");
    terminal.until("Imported 1 server.");
    assert_eq!(terminal.end(), Some(0));
    // Nothing is missing any more: it is the program that is no server.
    let tested = bench.run(&["servers", "test", "a", "--json"]);
    assert_eq!(tested.exit, 4, "{}", tested.stderr);
}

#[test]
fn a_choice_is_shown_with_what_there_is_to_choose_from() {
    let bench = Bench::new();
    bench.write(
        ".config/Code/User/mcp.json",
        r#"{
            "inputs": [{
                "id": "region", "type": "pickString", "description": "The region",
                "options": ["eu-west", "us-east"], "default": "eu-west"
            }],
            "servers": {"a": {"command": "sh", "args": ["-c", "echo $R > seen"], "env": {"R": "${input:region}"}}}
        }"#,
    );
    let mut terminal = Terminal::of(bench.command(&["import"]));
    terminal.until("[y/N] ");
    terminal.type_in("y\r");
    terminal.until("a asks: The region");
    terminal.until("1. eu-west");
    terminal.until("2. us-east");
    terminal.until("(Enter: eu-west)");
    terminal.type_in("2\r");
    terminal.until("Imported 1 server.");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(bench.run(&["servers", "test", "a"]).exit, 4);
    let seen = std::fs::read_to_string(bench.path().join("seen")).unwrap();
    assert_eq!(seen, "us-east\n");
}
