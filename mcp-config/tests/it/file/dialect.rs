//! What differs from one program's file to the next: words, references, and how a file is known.

use std::time::Duration;

use mcp_config::{ConfigFile, Dialect, Endpoint, Variable};

use super::read;

/// A variable is written the way the file's owner reads it, and one it cannot read is named.
#[test]
fn variables_are_spelt_as_the_dialect_does() {
    let file = read(
        r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${K}", "L": "${env:M}", "N": "${B:-c}", "I": "${input:d}"}}}}"#,
    );
    #[track_caller]
    fn check(file: &ConfigFile, dialect: Dialect, want: &[&str], lost: &[&str]) {
        let text = file.write(dialect);
        for want in want {
            assert!(text.contains(want), "{want}: {text}");
        }
        assert_eq!(
            file.losses(dialect).len(),
            lost.len(),
            "{:?}",
            file.losses(dialect)
        );
        for (loss, name) in file.losses(dialect).iter().zip(lost) {
            assert!(loss.message.contains(name), "{name}: {loss}");
            assert!(!text.contains(&format!("{name:?}")), "{text}");
        }
    }
    let (n, i) = ("env.N needs ${B:-c}", "env.I needs ${input:d}");
    check(
        &file,
        Dialect::VsCode,
        &["${env:K}", "${env:M}", "${input:d}"],
        &[n],
    );
    check(&file, Dialect::Cursor, &["${env:K}", "${env:M}"], &[i, n]);
    check(
        &file,
        Dialect::ClaudeCode,
        &["${K}", "${M}", "${B:-c}"],
        &[i],
    );
    check(&file, Dialect::Gemini, &["${K}", "${M}", "${B:-c}"], &[i]);
    check(
        &file,
        Dialect::OpenCode,
        &["{env:K}", "{env:M}"],
        &["env", "env"],
    );
    check(
        &file,
        Dialect::ClaudeDesktop,
        &[],
        &["env", "env", "env", "env"],
    );
    #[cfg(feature = "toml")]
    check(
        &file,
        Dialect::Codex,
        &["env_vars = [\"K\"]"],
        &["env", "env", "env"],
    );
}

#[test]
fn a_variable_is_not_spelt_in_a_way_that_names_another() {
    let file = read(
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "${-}", "B": "${env:userHome}", "C": "${env:a:b}"}}}}"#,
    );
    for dialect in [Dialect::VsCode, Dialect::ClaudeCode, Dialect::Gemini] {
        let again = ConfigFile::read(&file.write(dialect), dialect).unwrap();
        let meant = |file: &ConfigFile| {
            let resolved = file.resolve(&|v: Variable<'_>| Some(format!("{v:?}")));
            let Endpoint::Stdio(stdio) = resolved.servers[0].endpoint().clone() else {
                panic!("a program");
            };
            stdio.env().clone()
        };
        let (again, before) = (meant(&again), meant(&file));
        for (name, value) in &again {
            assert_eq!(Some(value), before.get(name), "{dialect:?} {name}");
        }
        assert_eq!(
            before.len(),
            again.len() + file.losses(dialect).len(),
            "{dialect:?}"
        );
    }
}

/// What reaches the server is what the file's owner would give it.
#[test]
fn references_are_read_as_the_files_owner_reads_them() {
    #[track_caller]
    fn check(text: &str, dialect: Dialect, want: &[&str]) {
        let file = ConfigFile::read(text, dialect).unwrap();
        let value = |variable: Variable<'_>| match variable {
            Variable::Env(name) => Some(format!("<{name}>")),
            Variable::File(path) => Some(format!("<text of {path}>")),
            _ => None,
        };
        let resolved = file.resolve(&value);
        assert_eq!(resolved.unresolved, []);
        let Endpoint::Stdio(stdio) = resolved.servers[0].endpoint() else {
            panic!("a program");
        };
        let args: Vec<&str> = stdio.args().iter().map(|arg| arg.expose()).collect();
        assert_eq!(args, want);
    }
    check(
        r#"{"mcpServers": {"a": {"command": "x", "args": ["$K", "${K}-$K1.", "$5", "${K:-d}"]}}}"#,
        Dialect::Gemini,
        &["<K>", "<K>-<K1>.", "$5", "<K>"],
    );
    check(
        r#"{"mcp": {"a": {"type": "local", "command": ["x", "{env:K}", "a{file:~/k}b", "${K}"]}}}"#,
        Dialect::OpenCode,
        &["<K>", "a<text of ~/k>b", "${K}"],
    );
    #[cfg(feature = "toml")]
    check(
        "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"${K}\", \"$K\"]\n",
        Dialect::Codex,
        &["${K}", "$K"],
    );
}

#[test]
fn an_address_without_a_kind_is_written_so_that_its_owner_takes_it() {
    let file = read(r#"{"mcpServers": {"w": {"url": "https://example.com/mcp"}}}"#);
    let entry = |dialect, container: &str| -> serde_json::Value {
        let root: serde_json::Value = serde_json::from_str(&file.write(dialect)).unwrap();
        root[container]["w"].clone()
    };
    assert_eq!(entry(Dialect::ClaudeCode, "mcpServers")["type"], "http");
    assert_eq!(entry(Dialect::VsCode, "servers")["type"], "http");
    assert_eq!(
        entry(Dialect::Cline, "mcpServers")["type"],
        "streamableHttp"
    );
    assert_eq!(entry(Dialect::OpenCode, "mcp")["type"], "remote");
    assert_eq!(
        entry(Dialect::Gemini, "mcpServers")["type"],
        serde_json::Value::Null
    );
}

/// Our own words mean nothing to others: Gemini CLI even refuses the whole file for them.
#[test]
fn no_word_of_ours_is_in_anybody_elses_file() {
    let file = read(
        r#"{"mcpServers": {"a": {
            "command": "x", "envPolicy": "none", "inheritEnv": ["K"], "lazy": true, "required": true,
            "parallel": true, "connectTimeoutMs": 5000, "toolTimeoutsMs": {"t": 1000},
            "enabledTools": ["t"], "disabled": true, "odd": 1
        }}}"#,
    );
    for dialect in [
        Dialect::ClaudeDesktop,
        Dialect::ClaudeCode,
        Dialect::VsCode,
        Dialect::Cursor,
        Dialect::Cline,
        Dialect::Gemini,
        Dialect::OpenCode,
        #[cfg(feature = "toml")]
        Dialect::Codex,
    ] {
        let text = file.write(dialect);
        for word in [
            "envPolicy",
            "inheritEnv",
            "lazy",
            "connectTimeoutMs",
            "toolTimeoutsMs",
            "enabledTools",
        ] {
            assert!(!text.contains(word), "{dialect:?} {word}: {text}");
        }
        let losses = format!("{:?}", file.losses(dialect));
        assert!(losses.contains("its environment is"), "{losses}");
        assert!(losses.contains("single tools"), "{losses}");
        assert_eq!(text.contains("odd"), dialect != Dialect::Gemini);
        assert_eq!(losses.contains("odd"), dialect == Dialect::Gemini);
    }
}

#[test]
fn a_file_of_any_name_is_known_by_what_it_says() {
    #[track_caller]
    fn check(text: &str, want: Dialect) {
        assert_eq!(Dialect::of_text(text), want, "{text}");
        assert_eq!(Dialect::of("saved/servers.txt", text), want, "{text}");
    }
    check(r#"{"mcpServers": {"a": {"command": "x"}}}"#, Dialect::Plain);
    check(
        r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#,
        Dialect::OpenCode,
    );
    check(
        r#"{"mcpServers": {"a": {"httpUrl": "https://x"}}}"#,
        Dialect::Gemini,
    );
    check(r#"{"inputs": [], "servers": {}}"#, Dialect::VsCode);
    check("[1]", Dialect::Plain);
    check("nothing of the kind", Dialect::Plain);
    check("", Dialect::Plain);
    #[cfg(feature = "toml")]
    for text in [
        "[mcp_servers.a]\ncommand = \"x\"\n",
        "# mine\n\nmodel = \"m\"\n[mcp_servers.a]\n",
        "mcp_servers.a.command = \"x\"",
        "\"mcp_servers\".a = {}",
    ] {
        check(text, Dialect::Codex);
    }
}

#[cfg(feature = "toml")]
#[test]
fn a_file_that_is_no_toml_says_where_and_what_was_expected() {
    #[track_caller]
    fn check(text: &str, want: &str) {
        let error = ConfigFile::read(text, Dialect::Codex).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
    check(
        "[mcp_servers.a]\ncommand = run\n",
        "line 2, column 11 ($): the file cannot be read: string values must be quoted, expected \
         literal string",
    );
    check(
        "[mcp_servers.a\n",
        "line 1, column 15 ($): the file cannot be read: unclosed table, expected `]`",
    );
}

/// opencode gives two times by one word, and Codex variables with more than a name.
#[test]
fn times_and_variables_are_read_in_all_their_forms() {
    let file = ConfigFile::read(
        r#"{"mcp": {"a": {"type": "local", "command": ["x"], "timeout": {"startup": 9000, "request": 7000}}}}"#,
        Dialect::OpenCode,
    )
    .unwrap();
    let server = &file.servers()[0];
    assert_eq!(server.connect_timeout(), Some(Duration::from_secs(9)));
    assert_eq!(server.call_idle_timeout("t"), Some(Duration::from_secs(7)));
    let file = read(
        r#"{"mcpServers": {"a": {"command": "x", "env_vars": ["A", {"name": "B", "source": "local"}]}}}"#,
    );
    let Endpoint::Stdio(stdio) = file.servers()[0].endpoint() else {
        panic!("a program");
    };
    assert_eq!(stdio.inherited().collect::<Vec<_>>(), ["A", "B"]);
}
