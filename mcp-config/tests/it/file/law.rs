//! What is written is read again as it was.

use std::time::Duration;

use mcp_config::{
    ConfigFile, Dialect, RemoteEndpoint, RemoteKind, ServerConfig, Start, ToolSettings, Variable,
};
use mcp_transport::{EnvPolicy, ServerCommand};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Those whose files list servers.
fn dialects() -> impl Iterator<Item = Dialect> {
    let all = Dialect::ALL.iter().copied();
    all.filter(|dialect| !dialect.is_single())
}

/// The servers with every variable replaced by what it is, in our words. A variable that is passed on
/// is one that is set to itself, a transport that is found out by trying may be named, and what the user
/// is asked for may be declared by its name alone (LibreChat wants that).
fn meant(file: &ConfigFile) -> Value {
    let resolved = file.resolve(&|variable: Variable<'_>| Some(format!("{variable:?}")));
    assert!(resolved.unresolved.is_empty());
    let servers = resolved.servers.into_iter();
    let file = servers.fold(ConfigFile::new(), ConfigFile::with_server);
    let mut root: Value = serde_json::from_str(&file.write(Dialect::Plain)).unwrap();
    for entry in root["mcpServers"].as_object_mut().unwrap().values_mut() {
        let entry = entry.as_object_mut().unwrap();
        for name in entry
            .remove("inheritEnv")
            .iter()
            .flat_map(|names| names.as_array().unwrap())
        {
            let name = name.as_str().unwrap();
            let own = format!("{:?}", Variable::Env(name));
            let env = entry
                .entry("env")
                .or_insert_with(|| json!({}))
                .as_object_mut()
                .unwrap();
            env.entry(name).or_insert(own.into());
        }
        if entry.get("type") != Some(&json!("sse")) {
            entry.remove("type");
        }
        if let Some(Value::Object(declared)) = entry.get_mut("customUserVars") {
            declared.retain(|id, it| *it != json!({"title": id, "description": id}));
            if declared.is_empty() {
                entry.remove("customUserVars");
            }
        }
        if let Some(env) = entry.get_mut("env") {
            env.as_object_mut().unwrap().sort_keys();
        }
    }
    root
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{1,12}",
        select(vec![
            "${env:TOKEN}",
            "Bearer ${env:TOKEN}",
            "${A} ${A:-b} ${userHome}",
            "${input:a} ${",
            "${a:b}",
            "a\nb",
            "'\"\\",
            "true",
            "7"
        ])
        .prop_map(str::to_owned),
    ]
}

fn time() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((1..10_000_000_u64).prop_map(Duration::from_millis))
}

fn stdio() -> impl Strategy<Value = ServerCommand> {
    let env = prop::collection::btree_map(text(), text(), 0..3);
    let policy = select(vec![EnvPolicy::Inherit, EnvPolicy::Safe, EnvPolicy::None]);
    let words = prop::collection::vec(text(), 0..3);
    (
        "[a-z/]{1,9}",
        words,
        env,
        policy,
        prop::option::of(text()),
        prop::option::of(text()),
    )
        .prop_map(|(command, args, env, policy, cwd, inherited)| {
            let mut stdio = ServerCommand::new(command)
                .with_args(args)
                .with_env_policy(policy);
            for (name, value) in env {
                stdio = stdio.with_env(name, value);
            }
            if let Some(name) = inherited {
                stdio = stdio.with_inherited(name);
            }
            match cwd {
                Some(cwd) => stdio.with_cwd(cwd),
                None => stdio,
            }
        })
}

fn remote() -> impl Strategy<Value = RemoteEndpoint> {
    let kind = select(vec![
        RemoteKind::Auto,
        RemoteKind::StreamableHttp,
        RemoteKind::Sse,
    ]);
    let name = prop_oneof![Just("Authorization".to_owned()), text()];
    let headers = prop::collection::btree_map(name, text(), 0..3);
    ("\\PC{0,9}", kind, headers).prop_map(|(path, kind, headers)| {
        let mut remote = RemoteEndpoint::new(format!("https://host/{path}")).with_kind(kind);
        for (name, value) in headers {
            remote = remote.with_header(name, value);
        }
        remote
    })
}

fn servers() -> impl Strategy<Value = ServerConfig> {
    let endpoint = prop_oneof![
        stdio().prop_map(|stdio| ServerConfig::stdio("x".parse().unwrap(), stdio)),
        remote().prop_map(|remote| ServerConfig::remote("x".parse().unwrap(), remote)),
    ];
    let flags = prop::collection::vec(any::<bool>(), 6);
    let tools = prop::collection::btree_set(text(), 0..3);
    (
        endpoint,
        "\\PC{1,9}",
        flags,
        (time(), time(), time()),
        tools,
    )
        .prop_map(|(server, name, flags, (connect, call, tool), tools)| {
            let mut server = ServerConfig::new(name.parse().unwrap(), server.endpoint().clone());
            let mut policy = ToolSettings::default();
            for tool in tools {
                policy = policy
                    .with_disabled(tool.clone())
                    .with_auto_approve(tool.clone());
                if flags[5] {
                    policy = policy.with_only([tool]);
                }
            }
            server = server.with_tools(policy);
            for (time, with) in [
                (connect, ServerConfig::with_connect_timeout as fn(_, _) -> _),
                (call, ServerConfig::with_call_idle_timeout),
                (tool, |server, time| {
                    ServerConfig::with_tool_idle_timeout(server, "t", time)
                }),
            ] {
                if let Some(time) = time {
                    server = with(server, time);
                }
            }
            let changes: [fn(ServerConfig) -> ServerConfig; 6] = [
                ServerConfig::disabled,
                ServerConfig::required,
                ServerConfig::parallel,
                ServerConfig::always_load,
                |server| server.with_start(Start::Lazy),
                |server| {
                    let profile = [("network".to_owned(), Value::from("none"))];
                    server.with_sandbox(profile.into_iter().collect())
                },
            ];
            let chosen = changes.iter().zip(flags).filter(|(_, flag)| *flag);
            chosen.fold(server, |server, (change, _)| change(server))
        })
}

/// Values that every dialect can write: TOML knows no null.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z .]{1,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_made_here_is_read_as_it_was(servers in prop::collection::vec(servers(), 0..4)) {
        let file = servers.into_iter().fold(ConfigFile::new(), ConfigFile::with_server);
        for dialect in dialects() {
            let text = file.write(dialect);
            let again = ConfigFile::read(&text, dialect).unwrap();
            prop_assert_eq!(again.problems(), []);
            for server in file.servers() {
                let mut losses = file.losses(dialect).into_iter();
                let alone = |file: &ConfigFile| {
                    let server = file.servers().iter().find(|it| it.name() == server.name());
                    meant(&ConfigFile::new().with_server(server.unwrap().clone()))
                };
                // What opencode reaches by trying is one of the two.
                let tries = dialect == Dialect::OpenCode && text.contains("remote");
                if !losses.any(|loss| loss.server == *server.name()) && !tries {
                    prop_assert_eq!(alone(&again), alone(&file), "{:?}\n{}", dialect, text);
                }
            }
            // What a dialect can say it says again, and loses nothing more.
            let lost = file.losses(dialect);
            for loss in again.losses(dialect) {
                prop_assert!(lost.contains(&loss), "{:?} {}\n{}", dialect, loss, text);
            }
            prop_assert_eq!(meant(&ConfigFile::read(&again.write(dialect), dialect).unwrap()), meant(&again));
        }
        prop_assert_eq!(file.losses(Dialect::Plain), []);
    }

    #[test]
    fn what_is_not_understood_is_kept(
        known in prop::collection::btree_map("x_[a-z]{1,5}", values(), 0..4),
        other in "url|command|x",
        top in values(),
        bad in any::<bool>(),
    ) {
        let mut entry = json!({"type": "stdio", "command": "run", other: "https://x"});
        entry.as_object_mut().unwrap().extend(known);
        let mut root = json!({"x_top": top, "mcpServers": {"a": entry, "b": {"url": "http://x", "x_y": 1}}});
        if bad {
            root["mcpServers"]["c"] = json!({"args": []});
        }
        let file = ConfigFile::read(&root.to_string(), Dialect::Plain).unwrap();
        prop_assert_eq!(file.problems().len(), usize::from(bad));
        // Gemini CLI takes no word it does not know.
        for dialect in dialects().filter(|dialect| *dialect != Dialect::Gemini) {
            let text = file.write(dialect);
            let again = ConfigFile::read(&text, dialect).unwrap();
            prop_assert_eq!(again.servers().len(), file.servers().len(), "{:?}\n{}", dialect, text);
            for (again, server) in again.servers().iter().zip(file.servers()) {
                prop_assert_eq!(again.extra(), server.extra(), "{:?}\n{}", dialect, text);
            }
            prop_assert_eq!(again.problems().len(), file.problems().len());
            // Whole, but for the order (TOML writes tables last) and the kind of transport.
            let whole = |file: &ConfigFile| -> Value {
                let mut root: Value = serde_json::from_str(&file.write(Dialect::Plain)).unwrap();
                root["mcpServers"]["b"].as_object_mut().unwrap().remove("type");
                root
            };
            prop_assert_eq!(whole(&again), whole(&file));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        for &dialect in Dialect::ALL {
            if let Err(problem) = ConfigFile::read(&text, dialect) {
                prop_assert!(problem.place.line >= 1 && problem.place.column >= 1);
            }
        }
    }

    /// Every member of an entry may be anything: the entry is named, and its neighbour loads.
    #[test]
    fn a_bad_entry_never_hides_its_neighbour(
        key in select(vec!["type", "command", "args", "env", "cwd", "url", "headers", "timeout", "disabled", "autoApprove"]),
        value in values(),
    ) {
        let mut bad = json!({"command": "x"});
        bad[key] = value;
        let root = json!({"mcpServers": {"bad": bad, "good": {"command": "y"}}});
        let file = ConfigFile::read(&format!("{root:#}"), Dialect::Plain).unwrap();
        let loaded: Vec<_> = file.servers().iter().map(|server| server.name().as_str()).collect();
        match file.problems() {
            [] => prop_assert_eq!(loaded, ["bad", "good"]),
            [problem] => {
                prop_assert_eq!(loaded, ["good"]);
                prop_assert_eq!(problem.server.as_deref(), Some("bad"));
                prop_assert!(problem.place.path.starts_with("$.mcpServers.bad"));
                prop_assert!(problem.place.line >= 3);
            }
            more => prop_assert!(false, "{:?}", more),
        }
    }
}

#[test]
fn a_variable_that_cannot_be_referred_to_is_reported_as_lost() {
    let command = ServerCommand::new("run")
        .with_inherited("TOKEN")
        .with_inherited("odd}name");
    let server = ServerConfig::stdio("a".parse().unwrap(), command);
    let file = ConfigFile::new().with_server(server);
    let losses: Vec<String> = file
        .losses(Dialect::ClaudeCode)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        losses.iter().any(|loss| loss.contains("odd}name")),
        "{losses:?}"
    );
    let text = file.write(Dialect::ClaudeCode);
    assert!(
        text.contains("TOKEN") && !text.contains("odd}name"),
        "{text}"
    );
}
