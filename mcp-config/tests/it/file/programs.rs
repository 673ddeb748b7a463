//! The files of the programs that write YAML, or that describe one server.

use mcp_config::{ConfigEdit, ConfigFile, Dialect, Endpoint, Variable};
use serde_json::Value;

use super::check;

macro_rules! input {
    ($file:literal) => {
        include_str!(concat!("../inputs/", $file))
    };
}

#[test]
fn files_of_further_programs_are_read() {
    check("zed", input!("zed.jsonc"), Dialect::Zed);
    check("roo", input!("roo.json"), Dialect::Roo);
    check("amazon_q", input!("amazon_q.json"), Dialect::AmazonQ);
    check(
        "copilot_cli",
        input!("copilot_cli.json"),
        Dialect::CopilotCli,
    );
    check("server_json", input!("server.json"), Dialect::Registry);
    check("manifest", input!("manifest.json"), Dialect::Bundle);
    #[cfg(feature = "yaml")]
    {
        check("goose", input!("goose.yaml"), Dialect::Goose);
        check("continue", input!("continue.yaml"), Dialect::Continue);
        check("librechat", input!("librechat.yaml"), Dialect::LibreChat);
    }
}

#[test]
fn a_file_is_written_for_each_further_program() {
    let text = r#"{"inputs": [{"id": "key", "description": "Your key", "password": true}], "servers": {
        "files": {"command": "npx", "args": ["-y", "@x/files@1.2", "/srv/a b"], "env": {"LEVEL": "yes", "KEY": "${env:KEY}", "OWN": "${input:key}"}},
        "web": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}
    }}"#;
    let file = ConfigFile::read(text, Dialect::VsCode).unwrap();
    let mut seen = String::new();
    for &dialect in Dialect::ALL {
        let losses: Vec<String> = file
            .losses(dialect)
            .iter()
            .map(ToString::to_string)
            .collect();
        seen += &format!(
            "== {}\n{}losses:\n{}\n\n",
            dialect.title(),
            file.write(dialect),
            losses.join("\n")
        );
    }
    insta::assert_snapshot!(seen);
}

/// What was read of a file that describes one server is written again as it was.
#[test]
fn a_description_of_one_server_survives_a_round_trip() {
    for (text, dialect) in [
        (input!("server.json"), Dialect::Registry),
        (input!("manifest.json"), Dialect::Bundle),
    ] {
        assert_eq!(Dialect::of("any.json", text), dialect);
        let file = ConfigFile::read(text, dialect).unwrap();
        let again = ConfigFile::read(&file.write(dialect), dialect).unwrap();
        assert_eq!(again.servers(), file.servers(), "{dialect:?}");
        let root = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        let (before, after) = (root(text), root(&file.write(dialect)));
        for name in [
            "name",
            "version",
            "description",
            "remotes",
            "author",
            "$schema",
        ] {
            assert_eq!(before[name], after[name], "{dialect:?} {name}");
        }
    }
}

#[test]
fn the_program_of_a_bundle_is_beside_its_manifest() {
    let file = ConfigFile::read(input!("manifest.json"), Dialect::Bundle).unwrap();
    let unknown = file.resolve(&|variable: Variable<'_>| match variable {
        Variable::Host("__dirname") => None,
        _ => Some(String::new()),
    });
    assert_eq!(unknown.unresolved.len(), 1);
    let resolved = file
        .in_folder("/opt/${x}")
        .resolve(&|_: Variable<'_>| Some("v".to_owned()));
    let Endpoint::Stdio(stdio) = resolved.servers[0].endpoint() else {
        panic!("a program");
    };
    let args: Vec<&str> = stdio.args().iter().map(|arg| arg.expose()).collect();
    assert_eq!(args, ["/opt/${x}/server/index.js", "--root=v", "v"]);
}

/// A description has no list to put an entry in.
#[test]
fn an_entry_is_not_put_into_a_description_of_one_server() {
    let problem = ConfigEdit::new(input!("server.json"), Dialect::Registry).unwrap_err();
    assert!(
        problem.to_string().contains("describes one server"),
        "{problem}"
    );
}

#[test]
fn a_package_that_would_be_an_option_is_refused() {
    let text = r#"{"name": "a/b", "packages": [{"registryType": "npm", "identifier": "--eval=x", "transport": {"type": "stdio"}}]}"#;
    let file = ConfigFile::read(text, Dialect::Registry).unwrap();
    assert_eq!(file.servers(), []);
    assert_eq!(file.problems()[0].place.path, "$.packages[0]");
}

#[cfg(feature = "yaml")]
mod yaml {
    use proptest::prelude::*;

    use super::*;
    use mcp_config::{ServerCommand, ServerConfig};

    fn server() -> ServerConfig {
        let command = ServerCommand::new("/opt/switchboard").with_args(["gateway", "a b"]);
        ServerConfig::stdio("new".parse().unwrap(), command)
    }

    #[track_caller]
    fn put(text: &str, dialect: Dialect) -> String {
        let mut edit = ConfigEdit::new(text, dialect).unwrap();
        edit.put(&server()).unwrap();
        let once = edit.text();
        edit.put(&server()).unwrap();
        assert_eq!(edit.text(), once, "twice is once");
        assert!(edit.names().contains(&"new".to_owned()));
        once
    }

    #[test]
    fn comments_and_order_of_a_yaml_file_stay() {
        let texts = [
            ("", Dialect::Goose),
            ("", Dialect::Continue),
            (
                "# none\nGOOSE_MODEL: m\nextensions:\n# end\n",
                Dialect::Goose,
            ),
            ("extensions: {} # none\nb: 1\n", Dialect::Goose),
            (
                "extensions:\r\n    a: # about a\r\n        cmd: a\r\n        args: []\r\n    # the end\r\nb: |\r\n  text\r\n",
                Dialect::Goose,
            ),
            (
                "mcpServers:\n- name: a\n  command: a # mine\n\nrules: []\n",
                Dialect::Continue,
            ),
            (
                "mcpServers:\n  a: {command: a, args: [], env: {A: |-\n",
                Dialect::LibreChat,
            ),
            (
                "mcpServers:\n  a:\n    command: a\n    args: [x,\n      y]",
                Dialect::LibreChat,
            ),
        ];
        let mut seen = Vec::new();
        for (text, dialect) in texts {
            if ConfigEdit::new(text, dialect).is_err() {
                seen.push("refused\n".to_owned());
                continue;
            }
            let written = put(text, dialect);
            let mut edit = ConfigEdit::new(&written, dialect).unwrap();
            assert!(edit.remove("new").unwrap());
            let before = ConfigEdit::new(text, dialect).unwrap();
            assert_eq!(edit.names(), before.names());
            if let [name] = before.names().as_slice() {
                assert_eq!(edit.text().trim_end(), text.trim_end());
                assert!(edit.remove(name).unwrap());
                assert!(edit.copy(name, &before).unwrap());
                assert_eq!(edit.entry(name), before.entry(name));
            }
            seen.push(written);
        }
        insta::assert_snapshot!(seen.join("----\n"));
    }

    #[test]
    fn what_is_no_yaml_says_where_and_a_bomb_is_refused() {
        let message = |text: &str| {
            ConfigFile::read(text, Dialect::Goose)
                .unwrap_err()
                .to_string()
        };
        assert!(
            message("extensions:\n  a: [\n").contains("line "),
            "{}",
            message("extensions:\n  a: [\n")
        );
        assert!(message("- 1\n").contains("expected an object, found a list"));
        assert!(message("a: 1\n---\nb: 2\n").contains("more than one document"));
        assert!(message(&"[".repeat(50_000)).contains("cannot be read"));
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let last = n - 1;
            let many = vec![format!("*a{last}"); 10].join(", ");
            bomb.push_str(&format!("a{n}: &a{n} [{many}]\n"));
        }
        assert!(
            message(&bomb).contains("too many values"),
            "{}",
            message(&bomb)
        );
        assert!(
            ConfigFile::read("", Dialect::Goose)
                .unwrap()
                .servers()
                .is_empty()
        );
        assert!(
            ConfigFile::read("# nothing\n", Dialect::LibreChat)
                .unwrap()
                .problems()
                .is_empty()
        );
    }

    #[test]
    fn an_entry_in_braces_is_left_to_its_owner() {
        let text = "extensions: {a: {cmd: a, type: stdio}}\n";
        let mut edit = ConfigEdit::new(text, Dialect::Goose).unwrap();
        let problem = edit.put(&server()).unwrap_err();
        assert!(problem.message.contains("change it by hand"), "{problem}");
        assert_eq!(edit.text(), text);
    }

    proptest! {
        /// Whatever a text is, it is written so that it is read as itself.
        #[test]
        fn every_text_survives_yaml(texts in prop::collection::vec("\\PC{0,12}|[\\x00-\\x20:#,\\-]{0,4}|yes|~|0x1f|1e3|\\.5|!x|&a|\\*b", 1..5)) {
            let mut server = ServerCommand::new("x").with_args(texts.clone());
            for text in &texts {
                server = server.with_env(format!("k{text}"), text.clone());
            }
            let file = ConfigFile::new().with_server(ServerConfig::stdio("s".parse().unwrap(), server));
            for dialect in [Dialect::Goose, Dialect::Continue, Dialect::LibreChat] {
                let again = ConfigFile::read(&file.write(dialect), dialect).unwrap();
                prop_assert_eq!(again.problems(), []);
                if file.losses(dialect).is_empty() {
                    prop_assert_eq!(again.servers()[0].endpoint(), file.servers()[0].endpoint(), "{}", file.write(dialect));
                }
            }
        }
    }
}
