//! Files of servers, in everybody's dialect.

mod dialect;
mod edit;
mod law;
mod offers;
mod programs;

use std::path::Path;
use std::time::Duration;

use mcp_config::{
    ConfigFile, Dialect, Endpoint, Missing, RemoteKind, ServerConfig, Variable, Variables,
};

fn read(text: &str) -> ConfigFile {
    ConfigFile::read(text, Dialect::Plain).unwrap()
}

/// Each file of `inputs` as it was read: what is wrong with it, what it asks for, and its
/// servers in the plain dialect. The files are ours, each in the form that its host documents.
#[track_caller]
fn check(name: &str, text: &str, dialect: Dialect) {
    let file = ConfigFile::read(text, dialect).unwrap();
    let problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
    let inputs: Vec<_> = file.inputs().iter().map(|it| format!("{it:?}")).collect();
    let (problems, inputs) = (problems.join("\n"), inputs.join("\n"));
    let plain = file.write(Dialect::Plain);
    let seen = format!("problems:\n{problems}\n\ninputs:\n{inputs}\n\nplain:\n{plain}");
    insta::assert_snapshot!(name, seen);
    let again = ConfigFile::read(&file.write(dialect), dialect).unwrap();
    let meant = |file: &ConfigFile| {
        let resolved = file.resolve(&|variable: Variable<'_>| Some(format!("{variable:?}")));
        let servers = resolved.servers.into_iter();
        servers
            .fold(ConfigFile::new(), ConfigFile::with_server)
            .write(Dialect::Plain)
    };
    if file.losses(dialect).is_empty() {
        assert_eq!(meant(&again), meant(&file));
    }
    assert_eq!(again.inputs(), file.inputs());
}

#[test]
fn every_dialect_is_read() {
    macro_rules! input {
        ($file:literal) => {
            include_str!(concat!("inputs/", $file))
        };
    }
    check(
        "claude_desktop",
        input!("claude_desktop.json"),
        Dialect::ClaudeDesktop,
    );
    check(
        "claude_code",
        input!("claude_code.json"),
        Dialect::ClaudeCode,
    );
    check("vscode", input!("vscode.jsonc"), Dialect::VsCode);
    check(
        "vscode_settings",
        input!("vscode_settings.json"),
        Dialect::VsCode,
    );
    check("cursor", input!("cursor.json"), Dialect::Cursor);
    check("cline", input!("cline.json"), Dialect::Cline);
    check("opencode", input!("opencode.jsonc"), Dialect::OpenCode);
    check("gemini", input!("gemini.json"), Dialect::Gemini);
    check("bare", input!("bare.json"), Dialect::Plain);
    check("broken", input!("broken.json"), Dialect::ClaudeDesktop);
    #[cfg(feature = "toml")]
    check("codex", input!("codex.toml"), Dialect::Codex);
}

#[test]
fn a_file_can_be_written_in_another_dialect() {
    let text = include_str!("inputs/cursor.json");
    let file = ConfigFile::read(text, Dialect::Cursor).unwrap();
    let describe = |dialect| {
        let losses = file.losses(dialect);
        let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
        format!("{}\nlosses:\n{}", file.write(dialect), losses.join("\n"))
    };
    insta::assert_snapshot!("as_vscode", describe(Dialect::VsCode));
    insta::assert_snapshot!("as_cline", describe(Dialect::Cline));
    insta::assert_snapshot!("as_gemini", describe(Dialect::Gemini));
    insta::assert_snapshot!("as_opencode", describe(Dialect::OpenCode));
    #[cfg(feature = "toml")]
    insta::assert_snapshot!("as_codex", describe(Dialect::Codex));
}

#[test]
fn the_servers_of_one_project_are_read() {
    let text = r#"{
        "mcpServers": {"everywhere": {"command": "x"}},
        "projects": {
            "/home/me/app": {"history": [], "mcpServers": {"here": {"command": "y"}, "odd": 1}},
            "/home/me/other": {}
        }
    }"#;
    let names = |file: &ConfigFile| -> Vec<String> {
        file.servers()
            .iter()
            .map(|server| server.name().to_string())
            .collect()
    };
    let whole = ConfigFile::read(text, Dialect::ClaudeCode).unwrap();
    assert_eq!(names(&whole), ["everywhere"]);
    let project = |folder| ConfigFile::read_project(text, folder).unwrap();
    let app = project("/home/me/app").unwrap();
    assert_eq!(names(&app), ["here"]);
    assert_eq!(
        app.problems()[0].place.path,
        r#"$.projects["/home/me/app"].mcpServers.odd"#
    );
    assert!(project("/home/me/other").unwrap().servers().is_empty());
    assert!(project("/elsewhere").is_none());
}

#[test]
fn a_stray_word_among_the_servers_hides_none_of_them() {
    for container in ["mcpServers", "servers"] {
        let text = format!(r#"{{"{container}": {{"type": "stdio", "git": {{"command": "g"}}}}}}"#);
        let file = read(&text);
        assert_eq!(file.servers().len(), 1, "{container}");
        assert_eq!(file.servers()[0].name().as_str(), "git");
        assert_eq!(file.problems()[0].server.as_deref(), Some("type"));
    }
    // A server may be called so.
    let bare = read(r#"{"servers": {"command": "x", "env": {"A": "b"}}}"#);
    assert_eq!(bare.servers()[0].name().as_str(), "servers");
}

#[test]
fn a_file_that_is_no_json_says_where() {
    #[track_caller]
    fn check(text: &str, want: &str) {
        let error = ConfigFile::read(text, Dialect::Plain).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
    check(
        "{\n  \"mcpServers\": {\n    \"a\" {}\n",
        "line 3, column 9 ($): the file cannot be read: expected colon after the string or word \
         in object property",
    );
    check(
        "[1]",
        "line 1, column 1 ($): expected an object, found a list",
    );
    let deep = "[".repeat(100_000);
    let error = ConfigFile::read(&deep, Dialect::Plain).unwrap_err();
    assert!(error.message.contains("nesting depth"), "{error}");
    assert!(read("").servers().is_empty());
    assert!(read("\u{feff}{}").problems().is_empty());
}

#[test]
fn a_file_without_servers_says_what_was_expected() {
    let file = read(r#"{"mcpservers": {"a": {"command": "x"}}, "theme": "dark"}"#);
    assert_eq!(
        file.problems()[0].message,
        r#"no servers found: expected "mcpServers" or "servers", found "mcpservers", "theme""#
    );
}

/// A project's file may come from anybody.
#[test]
fn a_file_full_of_faults_is_read_quickly_and_reported_briefly() {
    let entries: Vec<String> = (0..30_000).map(|n| format!(r#""{n}":0"#)).collect();
    let file = read(&format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(",")));
    assert_eq!(file.problems().len(), 101);
    assert_eq!(
        file.problems()[100].message,
        "there are more problems after this one"
    );
}

#[test]
fn the_word_of_type_wins_over_what_else_is_there() {
    let kind = |entry: &str| {
        let file = read(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#));
        assert_eq!(file.problems(), [], "{entry}");
        match file.servers()[0].endpoint() {
            Endpoint::Stdio(_) => None,
            Endpoint::Remote(remote) => Some(remote.kind()),
            other => panic!("{other}"),
        }
    };
    let url = |word: &str| kind(&format!(r#"{{"type": "{word}", "url": "http://x"}}"#));
    assert_eq!(url("http"), Some(RemoteKind::StreamableHttp));
    assert_eq!(url("streamable-http"), Some(RemoteKind::StreamableHttp));
    assert_eq!(url("streamableHttp"), Some(RemoteKind::StreamableHttp));
    assert_eq!(url("SSE"), Some(RemoteKind::Sse));
    assert_eq!(url("remote"), Some(RemoteKind::Auto));
    assert_eq!(url(""), Some(RemoteKind::Auto));
    assert_eq!(kind(r#"{"httpUrl": "https://x"}"#), Some(RemoteKind::Auto));
    assert_eq!(kind(r#"{"type": "local", "command": ["x", "y"]}"#), None);
    assert_eq!(
        kind(r#"{"type": "stdio", "command": "x", "url": "u"}"#),
        None
    );
}

#[test]
fn a_timeout_is_in_its_dialects_unit() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "timeout": 60}, "b": {"command": "x", "timeout": 60000}}}"#;
    let times = |dialect| -> Vec<Duration> {
        let file = ConfigFile::read(text, dialect).unwrap();
        let time = |server: &ServerConfig| server.call_idle_timeout("any").unwrap();
        file.servers().iter().map(time).collect()
    };
    let (ms, s) = (Duration::from_millis, Duration::from_secs);
    assert_eq!(times(Dialect::ClaudeCode), [ms(60), ms(60_000)]);
    assert_eq!(times(Dialect::Cline), [s(60), s(60_000)]);
    assert_eq!(times(Dialect::Plain), [s(60), s(60)]);
}

/// The tool's own time, else the server's.
#[test]
fn a_tools_own_time_wins() {
    let file = read(
        r#"{"mcpServers": {"a": {"command": "x", "timeout": 7, "toolTimeoutsMs": {"slow": 900000}}}}"#,
    );
    let server = &file.servers()[0];
    assert_eq!(
        server.call_idle_timeout("slow"),
        Some(Duration::from_secs(900))
    );
    assert_eq!(
        server.call_idle_timeout("other"),
        Some(Duration::from_secs(7))
    );
}

/// Approvals of another host are shown, and decide nothing here.
#[test]
fn approvals_are_kept_and_shown() {
    let file = read(r#"{"mcpServers": {"a": {"command": "x", "alwaysAllow": ["read"]}}}"#);
    let approved: Vec<_> = file.servers()[0].tools().auto_approved().collect();
    assert_eq!(approved, ["read"]);
}

struct Host;

impl Variables for Host {
    fn get(&self, variable: Variable<'_>) -> Option<String> {
        match variable {
            Variable::Env("TOKEN") => Some("${HOME} t-1".to_owned()),
            Variable::Env("EMPTY") => Some(String::new()),
            Variable::Host("workspaceFolder") => Some("/work space".to_owned()),
            Variable::Input("key") => Some("k-1".to_owned()),
            _ => None,
        }
    }

    fn env_file(&self, path: &str) -> Option<String> {
        let text = "# mine\nexport A=1\nB = \"two words\"\nSET=file\n=none\n";
        (path == "/work space/.env").then(|| text.to_owned())
    }
}

#[test]
fn variables_are_replaced_once() {
    let file = read(
        r#"{"servers": {"a": {
            "command": "${workspaceFolder}/run",
            "args": ["--token=${TOKEN}", "${env:TOKEN}", "${input:key}", "${EMPTY:-d}", "${NO:-a:-b}", "$5 ${"],
            "env": {"SET": "entry", "E": "${EMPTY}"},
            "envFile": "${workspaceFolder}/.env",
            "cwd": "${workspaceFolder}"
        }}}"#,
    );
    let resolved = file.resolve(&Host);
    assert!(resolved.unresolved.is_empty());
    let Endpoint::Stdio(stdio) = resolved.servers[0].endpoint() else {
        panic!("a program");
    };
    assert_eq!(stdio.program(), "/work space/run");
    let args: Vec<_> = stdio.args().iter().map(|arg| arg.expose()).collect();
    let token = "${HOME} t-1";
    assert_eq!(
        args,
        [
            &format!("--token={token}"),
            token,
            "k-1",
            "d",
            "a:-b",
            "$5 ${"
        ]
    );
    let env: Vec<_> = stdio
        .env()
        .iter()
        .map(|(name, value)| format!("{name}={}", value.expose()))
        .collect();
    assert_eq!(env, ["A=1", "B=two words", "E=", "SET=entry"]);
    assert_eq!(stdio.cwd(), Some(Path::new("/work space")));
    assert_eq!(resolved.servers[0].env_file(), None);
}

#[test]
fn what_is_missing_is_named_and_the_others_resolve() {
    let file = read(
        r#"{"servers": {
            "a": {"url": "https://${HOST_NAME}/mcp", "headers": {"X": "${input:secret} ${HOST_NAME}", "Y": "${command:pick}"}},
            "b": {"command": "x", "envFile": "gone"},
            "c": {"command": "x"}
        }}"#,
    );
    let resolved = file.resolve(&Host);
    assert_eq!(resolved.servers[0].name().as_str(), "c");
    assert_eq!(
        resolved.unresolved[0].missing[1],
        Missing::Input {
            id: "secret".to_owned()
        }
    );
    let said: Vec<_> = resolved
        .unresolved
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn secrets_are_not_printed() {
    let file = read(
        r#"{"mcpServers": {
            "a": {"command": "x", "args": ["--api-key", "s3cret"], "env": {"K": "s3cret"}},
            "b": {"url": "https://me:s3cret@example.com/mcp?key=s3cret", "headers": {"K": "s3cret"}}
        }}"#,
    );
    let shown: Vec<_> = file
        .servers()
        .iter()
        .map(|server| server.endpoint().to_string())
        .collect();
    assert_eq!(shown, ["x --api-key …", "https://…@example.com/mcp?…"]);
    assert!(!format!("{file:?} {shown:?}").contains("s3cret"));
}

#[test]
fn a_connection_serves_whatever_has_the_same_endpoint() {
    let servers =
        |entry: &str| read(&format!(r#"{{"servers": {{"a": {entry}}}}}"#)).servers()[0].clone();
    let one = servers(r#"{"command": "x"}"#);
    assert!(one.connects_like(&servers(
        r#"{"command": "x", "timeout": 5, "disabledTools": ["t"]}"#
    )));
    assert!(!one.connects_like(&servers(r#"{"command": "x", "env": {"A": "1"}}"#)));
    assert!(!one.connects_like(&servers(r#"{"url": "http://x"}"#)));
}

#[test]
fn files_are_known_by_their_names() {
    #[track_caller]
    fn check(path: &str, want: Option<Dialect>) {
        assert_eq!(Dialect::of_path(path), want, "{path}");
    }
    check(
        "a/Claude/claude_desktop_config.json",
        Some(Dialect::ClaudeDesktop),
    );
    check(".mcp.json", Some(Dialect::ClaudeCode));
    check("home/.cursor/mcp.json", Some(Dialect::Cursor));
    check("home/.config/Code/User/mcp.json", Some(Dialect::VsCode));
    check("x/cline_mcp_settings.json", Some(Dialect::Cline));
    #[cfg(feature = "toml")]
    check("home/.codex/config.toml", Some(Dialect::Codex));
    #[cfg(feature = "toml")]
    check("exported/codex.toml", Some(Dialect::Codex));
    check("home/.gemini/settings.json", Some(Dialect::Gemini));
    check("project/opencode.jsonc", Some(Dialect::OpenCode));
    check("mcp.json", None);
}
