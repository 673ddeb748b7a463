//! Single entries are changed in a file's text, and nothing else is.

use mcp_config::{ConfigEdit, Dialect, ServerCommand, ServerConfig};
use proptest::prelude::*;
use proptest::sample::select;

fn server() -> ServerConfig {
    let command =
        ServerCommand::new("/opt/switchboard").with_args(["gateway", "--assistant", "a b"]);
    ServerConfig::new("new".parse().unwrap(), mcp_config::Endpoint::Stdio(command))
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
fn an_entry_is_written_as_the_file_is_laid_out() {
    let texts = [
        ("", Dialect::Cursor),
        ("{}", Dialect::Zed),
        ("{\"a\": 1}", Dialect::OpenCode),
        (
            "{\r\n\t// settings\r\n\t\"theme\": \"dark\", // mine\r\n}\r\n",
            Dialect::VsCode,
        ),
        (
            "{\n    \"mcpServers\": {\n        \"a\": {\"command\": \"a\"} // about a\n        /* end */\n    },\n    \"b\": 1\n}\n",
            Dialect::ClaudeDesktop,
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}",
            Dialect::ClaudeCode,
        ),
        (
            "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
            Dialect::Gemini,
        ),
    ];
    let written: Vec<String> = texts.map(|(text, dialect)| put(text, dialect)).into();
    insta::assert_snapshot!(written.join("\n----\n"));
}

#[cfg(feature = "toml")]
#[test]
fn comments_and_order_of_a_toml_file_stay() {
    let texts = [
        "",
        "# mine\nmodel = \"o3\" # best\n\n[mcp_servers.a]\n# about a\ncommand = \"a\"\n\n[tui]\ntheme = \"x\"\n",
        "mcp_servers = { a = { command = \"a\" } }\n",
    ];
    let written: Vec<String> = texts.map(|text| put(text, Dialect::Codex)).into();
    insta::assert_snapshot!(written.join("\n----\n"));
    for (text, written) in texts.iter().zip(&written).skip(1) {
        let mut edit = ConfigEdit::new(written, Dialect::Codex).unwrap();
        assert!(edit.remove("new").unwrap());
        assert_eq!(edit.text(), *text);
        assert!(edit.remove("a").unwrap());
        let original = ConfigEdit::new(text, Dialect::Codex).unwrap();
        assert!(edit.copy("a", &original).unwrap());
        assert_eq!(edit.entry("a"), original.entry("a"));
    }
}

#[test]
fn what_is_no_file_of_servers_is_refused_and_left_alone() {
    for (text, why) in [
        ("[1]", "expected an object, found a list"),
        ("{\"mcpServers\": []}", "expected an object, found a list"),
        ("{\"mcpServers\": {", "cannot be read"),
    ] {
        let problem = ConfigEdit::new(text, Dialect::Cursor).unwrap_err();
        assert!(problem.to_string().contains(why), "{problem}");
    }
}

fn gap() -> impl Strategy<Value = String> {
    select(vec![
        "",
        " ",
        "\n  ",
        "\n\t",
        " /* c */ ",
        " // c, \"new\": {\n",
    ])
    .prop_map(str::to_owned)
}

/// An object of entries with comments and blanks of all kinds.
fn container() -> impl Strategy<Value = String> {
    let entry = (gap(), "[a-d]", gap(), gap(), gap());
    let entry = entry
        .prop_map(|(a, name, b, c, d)| format!("{a}\"{name}\"{b}:{c}{{\"command\": \"x,}}\"}}{d}"));
    (prop::collection::vec(entry, 1..4), any::<bool>(), gap()).prop_map(|(entries, comma, end)| {
        let comma = if comma { "," } else { "" };
        format!("{{{}{comma}{end}}}", entries.join(","))
    })
}

proptest! {
    /// Putting adds one entry and removing it again gives the very text back.
    #[test]
    fn removing_what_was_put_gives_the_text_back(
        before in gap(), servers in container(), after in gap(), more in any::<bool>(),
    ) {
        let more = if more { ", \"other\": [1, {}]" } else { "" };
        let text = format!("{before}{{\"mcpServers\":{servers}{more}{after}}}\n");
        let original = ConfigEdit::new(&text, Dialect::Cursor).unwrap();
        let mut edit = original.clone();
        edit.put(&server()).unwrap();
        let mut names = original.names();
        names.push("new".to_owned());
        prop_assert_eq!(edit.names(), names, "{}", edit.text());
        prop_assert!(edit.remove("new").unwrap());
        prop_assert_eq!(edit.text(), text);
        // Any other may go and come back; what is left stays what it was.
        let name = original.names().pop().unwrap();
        prop_assert!(edit.remove(&name).unwrap());
        prop_assert!(!edit.names().contains(&name), "{}", edit.text());
        prop_assert!(edit.copy(&name, &original).unwrap());
        prop_assert_eq!(edit.entry(&name), original.entry(&name));
    }
}
