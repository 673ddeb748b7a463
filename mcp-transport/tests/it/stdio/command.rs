//! What is run, with which environment, and how it is shown.

use std::ffi::OsString;

use mcp_transport::{EnvPolicy, ServerCommand};

use super::*;

fn host() -> Vec<(OsString, OsString)> {
    let all = [
        ("PATH", "/bin"),
        ("HOME", "/home/me"),
        ("LC_ALL", "C"),
        ("EDITOR", "vi"),
        ("OPENAI_API_KEY", "sk-1"),
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("GEMINI_API_KEY", "sk-3"),
        ("GITHUB_TOKEN", "gh"),
        ("token", "t"),
        ("AWS_SECRET_ACCESS_KEY", "aws"),
        ("MONKEY", "banana"),
        ("TOKENIZERS_PARALLELISM", "true"),
    ];
    all.iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[track_caller]
fn check(command: &ServerCommand, want: &str) {
    let env = command.environment(host());
    let env: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    assert_eq!(env.join(" "), want);
}

#[test]
fn secrets_of_the_host_are_not_inherited_unless_listed() {
    let inherited =
        "EDITOR=vi HOME=/home/me LC_ALL=C MONKEY=banana PATH=/bin TOKENIZERS_PARALLELISM=true";
    let command = ServerCommand::new("x");
    check(&command, inherited);
    let listed = command
        .with_inherited("GITHUB_TOKEN")
        .with_inherited("ABSENT");
    check(&listed, &inherited.replace("HOME", "GITHUB_TOKEN=gh HOME"));
}

#[test]
fn the_policy_says_what_is_inherited_and_explicit_entries_win() {
    let command = ServerCommand::new("x")
        .with_env("HOME", "/tmp")
        .with_env("MY_API_KEY", "k");
    let safe = command.clone().with_env_policy(EnvPolicy::Safe);
    check(&safe, "HOME=/tmp LC_ALL=C MY_API_KEY=k PATH=/bin");
    let none = command.with_env_policy(EnvPolicy::None);
    check(&none, "HOME=/tmp MY_API_KEY=k");
    check(
        &none.with_inherited("EDITOR"),
        "EDITOR=vi HOME=/tmp MY_API_KEY=k",
    );
}

#[tokio::test]
async fn a_server_gets_exactly_that_environment_and_directory() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let command = ServerCommand::new("/bin/sh")
        .with_args([
            "-c",
            "printf '{\"cwd\":\"%s\",\"x\":\"%s\",\"home\":\"%s\"}\\n' \"$PWD\" \"$X\" \"$HOME\"",
        ])
        .with_env_policy(EnvPolicy::None)
        .with_env("X", "y")
        .with_cwd(&dir);
    let transport = connect(command).start().await.unwrap();
    let want = format!(
        "{{\"cwd\":\"{}\",\"x\":\"y\",\"home\":\"\"}}",
        dir.display()
    );
    assert_eq!(message(&transport).await, want);
}

#[test]
fn a_command_is_shown_without_secrets() {
    let shown = |args: &[&str]| {
        ServerCommand::new("npx")
            .with_args(args.to_vec())
            .to_string()
    };
    let lines = [
        shown(&["-y", "@scope/server", "/home/me"]),
        shown(&["--api-key", "k1", "--port", "80"]),
        shown(&["--token=k1", "GITHUB_TOKEN=k2", "--verbose", "MODE=fast"]),
        shown(&["--auth", "--port", "80"]),
        shown(&[
            "mcp-remote",
            "https://me:pw@host/mcp?key=k1",
            "postgres://host/db",
        ]),
        shown(&["--header", "Authorization: Bearer k1", "X-Key: k2"]),
        shown(&["-c", "one\ntwo", &"long ".repeat(100)]),
    ];
    insta::assert_snapshot!(lines.join("\n"));
    let command = ServerCommand::new("x")
        .with_arg("--key=k1")
        .with_env("A", "k2");
    assert!(!format!("{command:?}").contains("k1") && !format!("{command:?}").contains("k2"));
}
