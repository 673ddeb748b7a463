//! Starting a server, and failing to.

use async_trait::async_trait;
use mcp_transport::{
    Connect, LineFramer, ServerCommand, SpawnRequest, SpawnedProcess, Spawner, Transport,
    TransportError, TransportKind, memory,
};

use super::*;

#[tokio::test]
async fn messages_go_out_and_come_back_as_whole_lines() {
    let transport = connect(ServerCommand::new("cat")).start().await.unwrap();
    assert!(transport.is_alive() && transport.process_id().is_some());
    assert_eq!(transport.kind(), TransportKind::Pipe);
    for id in 0..1000 {
        transport.send(request(id, "hé\\n")).await.unwrap();
    }
    for id in 0..1000 {
        assert_eq!(
            message(&transport).await,
            format!("{{\"id\":{id},\"text\":\"hé\\n\"}}")
        );
    }
    transport.close().await;
}

#[tokio::test]
async fn a_server_may_open_its_stdin_and_its_stderr_anew() {
    let script = "echo hello > /dev/stderr; exec cat /dev/stdin";
    let command = ServerCommand::new("sh").with_args(["-c", script]);
    let transport = connect(command).start().await.unwrap();
    transport.send(request(1, "x")).await.unwrap();
    assert_eq!(message(&transport).await, "{\"id\":1,\"text\":\"x\"}");
    transport.close().await;
    assert_eq!(transport.stderr_tail().trim(), "hello");
}

/// What makes large replies fast, and what scripts can rely on.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn stdout_is_a_socket_and_the_others_are_pipes() {
    let script = r#"for f in 0 1 2; do [ -S /dev/fd/$f ] && k="$k socket" || k="$k pipe"; done
        echo "{\"kinds\":\"$k\"}"; exec cat"#;
    let command = ServerCommand::new("sh").with_args(["-c", script]);
    let transport = connect(command).start().await.unwrap();
    assert_eq!(
        message(&transport).await,
        r#"{"kinds":" pipe socket pipe"}"#
    );
    transport.close().await;
}

#[tokio::test]
async fn no_debug_output_shows_messages() {
    let transport = connect(ServerCommand::new("cat")).start().await.unwrap();
    transport.send(request(1, "hush")).await.unwrap();
    insta::assert_snapshot!(
        format!("{transport:?}").replace(&transport.process_id().unwrap().to_string(), "<id>")
    );
    let (client, server) = memory::pair();
    client.send(request(1, "hush")).await.unwrap();
    insta::assert_snapshot!(format!("{server:?}"));
    let mut framer = LineFramer::new(100);
    framer.push(b"hush");
    insta::assert_snapshot!(format!("{framer:?}"));
}

#[tokio::test]
async fn a_message_with_raw_line_breaks_still_is_one_line() {
    let transport = connect(ServerCommand::new("cat")).start().await.unwrap();
    let pretty = Outgoing::notification("x", b"{\r\n  \"a\": 1\n}".to_vec());
    transport.send(pretty).await.unwrap();
    assert_eq!(message(&transport).await, "{    \"a\": 1 }");
    transport.close().await;
}

#[tokio::test]
async fn a_missing_program_error_names_the_places_searched() {
    let command = ServerCommand::new("no-such-program")
        .with_env("PATH", "/first/place:/second/place")
        .with_env("HOME", "/home/user");
    let Err(TransportError::NotFound { program, searched }) = connect(command).start().await else {
        panic!();
    };
    assert_eq!(program, "no-such-program");
    assert_eq!(
        searched[..3],
        ["/first/place", "/second/place", "/home/user/.local/bin"]
    );
    let command = ServerCommand::new("./missing").with_cwd("/usr");
    let error = connect(command).connect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "program './missing' was not found; searched: /usr/./missing"
    );
}

#[tokio::test]
async fn a_program_outside_of_path_is_found_and_finds_its_neighbours() {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join(".local/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (name, script) in [
        ("outer", "#!/bin/sh\nexec inner\n"),
        ("inner", "#!/bin/sh\necho '{}'\n"),
    ] {
        program(&bin.join(name), script);
    }
    let command = ServerCommand::new("outer")
        .with_env("HOME", home.path().to_str().unwrap())
        .with_env("PATH", "/nowhere");
    let transport = connect(command).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script");
    program(&script, "#!/no/such/interpreter\n");
    let missing_cwd = ServerCommand::new("cat").with_cwd("/no/such/dir");
    let no_interpreter = ServerCommand::new(script.to_str().unwrap());
    let mut reported = Vec::new();
    for command in [missing_cwd, no_interpreter] {
        let Err(error @ TransportError::Spawn { .. }) = connect(command).start().await else {
            panic!();
        };
        let source = std::error::Error::source(&error).unwrap();
        reported.push(
            source
                .to_string()
                .replace(dir.path().to_str().unwrap(), "<dir>"),
        );
    }
    assert_eq!(
        reported,
        [
            "its working directory '/no/such/dir' is not a directory",
            "'<dir>/script' is there, but the interpreter it names is not",
        ]
    );
}

#[tokio::test]
async fn a_server_that_dies_at_start_is_reported_with_status_and_stderr() {
    let transport = sh("echo 'cannot find config' >&2; exit 3")
        .start()
        .await
        .unwrap();
    insta::assert_snapshot!(loss(&transport).await);
}

/// Starts servers, and forgets about each as soon as it runs.
#[derive(Debug)]
struct Abandon {
    is_up: PathBuf,
}

#[async_trait]
impl Spawner for Abandon {
    async fn spawn(
        &self,
        request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        let local = LocalSpawner::new();
        let mut starting = local.spawn(request);
        // Kept until the server runs, whether it is still on its way to us then or not.
        let _started = tokio::select! {
            biased;
            started = &mut starting => Some(started),
            () = std::future::ready(()) => None,
        };
        let is_up = self.is_up.clone();
        tokio::task::spawn_blocking(|| std::fs::read(is_up))
            .await
            .unwrap()
            .unwrap();
        Err(TransportError::Closed)
    }
}

#[tokio::test]
async fn an_abandoned_start_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let (line, up) = (
        Lifeline::new(dir.path(), "line"),
        Lifeline::new(dir.path(), "up"),
    );
    let gone = line.watch();
    let script = format!(
        "{}; echo up > '{}'; exec sleep 1000",
        line.hold(),
        up.path.display()
    );
    let command = ServerCommand::new("sh").with_args(["-c", &script]);
    let connect = StdioConnect::new(
        command,
        Arc::new(Abandon {
            is_up: up.path.clone(),
        }),
    );
    assert!(connect.start().await.is_err());
    gone.await;
}

fn program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;

    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
