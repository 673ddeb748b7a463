//! The whole programs in `examples/`, which are built along with the tests.

#[cfg(feature = "testing")]
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
#[cfg(feature = "testing")]
use std::process::{Command, Stdio};

#[cfg(feature = "server")]
use switchboard_sdk::prelude::*;

fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path
}

#[cfg(feature = "server")]
#[tokio::test]
async fn a_server_in_twenty_lines_has_a_typed_tool() {
    let program = example("server").into_os_string().into_string().unwrap();
    let client = Client::stdio(program, [""; 0]).connect().await.unwrap();
    let sides = serde_json::json!({"sides": 1});
    let result = client.call_tool("roll", sides).await.unwrap();
    let text = result.content.first().and_then(ContentBlock::as_text);
    assert_eq!(text, Some("1"));
    let wrong = serde_json::json!({"sides": "six"});
    let refused = client.call_tool("roll", wrong).await.unwrap();
    assert!(refused.failed());
    client.close().await;
}

#[cfg(feature = "testing")]
#[test]
fn a_killed_batch_job_goes_on_and_makes_no_call_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = Command::new(example("batch_job"));
    job.arg(folder.path()).stdout(Stdio::piped());
    let mut killed = job.spawn().unwrap();
    let said = BufReader::new(killed.stdout.take().unwrap()).lines();
    let paying = said
        .map(Result::unwrap)
        .find(|line| line.contains("paying 1"));
    assert!(paying.is_some());
    killed.kill().unwrap();
    killed.wait().unwrap();

    let output = job.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("1: The call was interrupted"), "{said}");
    assert!(!said.contains("paying 1\n"), "{said}");
    assert!(said.ends_with("paying 5\n5: paid\n"), "{said}");
}
