//! `mcp-server-git`, on a repository of the test's own, in both eras.

use std::process::Command;

use mcp_client::EraMode;
use mcp_jsonrpc::Revision;
use mcp_transport::ServerCommand;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::installed::python;
use crate::session::Session;

/// Whatever the machine's own settings are; with them, even hashes are always the same.
const SETTINGS: [(&str, &str); 8] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05+0000"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05+0000"),
];

#[tokio::test]
async fn a_change_is_committed_in_the_legacy_era() {
    scenario("git-legacy", EraMode::Auto, Revision::V2025_11_25).await;
}

#[tokio::test]
async fn a_change_is_committed_in_the_modern_era() {
    scenario("git-modern", EraMode::PreferModern, Revision::V2026_07_28).await;
}

async fn scenario(folder: &str, mode: EraMode, revision: Revision) {
    let folder = Folder::new(folder);
    let repo = folder.itself();
    git(repo, &["init", "--quiet", "--initial-branch=main"]);
    folder.write("poem.txt", "roses\n");
    git(repo, &["add", "."]);
    git(repo, &["commit", "--quiet", "--message=first"]);

    let command = python("mcp-server-git").with_args(["--repository", repo]);
    let set = |command: ServerCommand, (name, value)| command.with_env(name, value);
    let command = SETTINGS.into_iter().fold(command, set);
    let session = Session::start(command, mode).await;
    assert_eq!(session.client.revision(), revision);
    let say = async |tool: &str, mut arguments: Value| {
        arguments["repo_path"] = repo.into();
        session.say(tool, arguments).await
    };

    let clean = "Repository status:\nOn branch main\nnothing to commit, working tree clean";
    assert_eq!(say("git_status", json!({})).await, clean);
    folder.write("poem.txt", "violets\n");
    let diff = say("git_diff_unstaged", json!({})).await;
    assert!(diff.ends_with("\n-roses\n+violets"), "{diff}");
    let added = say("git_add", json!({"files": ["poem.txt"]})).await;
    assert_eq!(added, "Files staged successfully");
    let diff = say("git_diff_staged", json!({})).await;
    assert!(diff.ends_with("\n-roses\n+violets"), "{diff}");
    let committed = say("git_commit", json!({"message": "second"})).await;
    let hash = git(repo, &["rev-parse", "HEAD"]);
    let expected = format!("Changes committed successfully with hash {hash}");
    assert_eq!(committed, expected);
    assert_eq!(git(repo, &["log", "--format=%s"]), "second\nfirst");
    let log = say("git_log", json!({"max_count": 1})).await;
    assert!(log.contains(&hash) && log.contains("second"), "{log}");

    let created = say("git_create_branch", json!({"branch_name": "side"})).await;
    assert_eq!(created, "Created branch 'side' from 'main'");
    let switched = say("git_checkout", json!({"branch_name": "side"})).await;
    assert_eq!(switched, "Switched to branch 'side'");
    let branches = say("git_branch", json!({"branch_type": "local"})).await;
    assert_eq!(branches.trim(), "main\n* side");
    let nowhere = json!({"repo_path": folder.path("nowhere")});
    session.complaint("git_status", nowhere).await;
    session.close().await;
}

fn git(repo: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let output = command
        .args(arguments)
        .current_dir(repo)
        .envs(SETTINGS)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}
