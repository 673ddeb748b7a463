//! Servers that are installed, updated and removed: from bundles, files and a registry.

mod hostile;
mod lookup;

use std::path::Path;

use serde_json::{Value, json};

use super::bench::{Bench, Ran, data};
use super::mirror::server;
use super::zip::{bundle, file, manifest, save, zip};
use crate::program::path;

/// The values of every bundle whose program is the demo server: it is readable, and on a kernel that
/// contains less than all, it starts.
fn open() -> [&'static str; 4] {
    ["--weaker", "--allow-read", path(), "--yes"]
}

#[track_caller]
pub(super) fn done(ran: Ran) -> Value {
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap_or(Value::Null)
}

#[track_caller]
fn install(bench: &Bench, what: &Path, flags: &[&str]) -> Value {
    let command = ["servers", "install", what.to_str().unwrap(), "--json"];
    done(bench.run(&[&command, flags, &open()].concat()))
}

/// All files below the data folder that belong to servers.
fn left(bench: &Bench) -> Vec<String> {
    fn walk(folder: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            all.push(path.display().to_string());
            if path.is_dir() {
                walk(&path, all);
            }
        }
    }
    let mut all = Vec::new();
    for folder in ["bundles", "sandboxes", "logs"] {
        walk(&data(bench, folder), &mut all);
    }
    all.retain(|path| !path.ends_with("/bundles/.lock"));
    all
}

fn shown(bench: &Bench, name: &str) -> Value {
    done(bench.run(&["servers", "show", name, "--json"]))
}

#[test]
fn a_bundle_is_installed_called_updated_and_removed_and_nothing_is_left() {
    let bench = Bench::new();
    let one = bundle(&bench, "clock-1.mcpb", &manifest("1.0.0", &json!({})), &[]);
    let planned = install(&bench, &one, &[]);
    let plan = &planned["plan"];
    assert_eq!(plan["from"]["version"], "1.0.0");
    assert_eq!(plan["files"]["count"], 2);
    assert_eq!(plan["tools"], json!(["add"]));
    assert_eq!(plan["sandbox"]["profile"]["network"], "none");
    let folder = plan["files"]["folder"].as_str().unwrap();
    assert_eq!(plan["command"], format!("sh {folder}/server/run.sh"));
    assert_eq!(plan["sandbox"]["profile"]["read"][0], folder);
    assert!(Path::new(folder).join("manifest.json").exists());
    let called = bench.run(&["call", "clock", "add", "a=1", "b=2"]);
    assert_eq!(called.exit, 0, "{}", called.stderr);

    // The user's own settings stay.
    done(bench.run(&[
        "servers",
        "edit",
        "clock",
        "--idle-timeout",
        "9",
        "-e",
        "MINE=x",
    ]));
    let changed = manifest(
        "1.1.0",
        &json!({"tools": [{"name": "add"}, {"name": "sub"}]}),
    );
    let two = bundle(&bench, "clock-2.mcpb", &changed, &[file("new.txt", "new")]);
    let update = [
        "servers",
        "update",
        "clock",
        "--to",
        two.to_str().unwrap(),
        "--json",
    ];
    let preview = done(bench.run(&update));
    assert_eq!(preview["servers"][0]["state"], "outdated");
    assert!(Path::new(folder).exists(), "nothing has changed yet");
    let updated = done(bench.run(&[&update[..], &["--yes"]].concat()));
    let changes = &updated["servers"][0]["changes"];
    let of = |what: &str| {
        let mut all = changes.as_array().unwrap().iter();
        all.find(|it| it["what"] == what)
            .unwrap_or_else(|| panic!("{what}: {changes:#}"))
            .clone()
    };
    assert_eq!(
        (&of("version")["before"], &of("version")["after"]),
        (&json!("1.0.0"), &json!("1.1.0"))
    );
    assert!(of("command")["after"].as_str().unwrap().contains("1.1.0-"));
    assert!(of("tools")["after"].as_str().unwrap().ends_with("add, sub"));
    assert!(!Path::new(folder).exists(), "the old version is gone");
    let server = shown(&bench, "clock");
    assert_eq!(server["config"]["tool_timeout_sec"], 9);
    assert_eq!(server["config"]["env"]["MINE"], "plain:…");
    let called = bench.run(&["call", "clock", "add", "a=1", "b=2"]);
    assert_eq!(called.exit, 0, "{}", called.stderr);

    assert!(!left(&bench).is_empty());
    done(bench.run(&["servers", "remove", "clock"]));
    assert_eq!(left(&bench), [""; 0]);
}

#[test]
fn nothing_is_done_before_a_yes() {
    let bench = Bench::new();
    let file = bundle(&bench, "clock.mcpb", &manifest("1.0.0", &json!({})), &[]);
    let said = done(bench.run(&["servers", "install", file.to_str().unwrap(), "--json"]));
    assert_eq!(said["installed"], Value::Null);
    assert_eq!(said["plan"]["name"], "clock");
    assert_eq!(left(&bench), [""; 0]);
    let listed = done(bench.run(&["servers", "list", "--json"]));
    assert!(!listed.to_string().contains("clock"), "{listed}");
    let text = bench
        .run(&["servers", "install", file.to_str().unwrap()])
        .stdout;
    for line in [
        "it is not signed",
        "SHA-256",
        "run.sh",
        "In a sandbox",
        "1.0.0",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn what_a_bundle_asks_for_is_checked_and_given_to_its_program() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("notes")).unwrap();
    let asks = json!({
        "server": {"type": "node", "entry_point": "server/run.sh", "mcp_config": {
            "command": "sh",
            "args": ["${__dirname}/server/run.sh", "${user_config.dirs}", "--level", "${user_config.level}"],
            "env": {"API_KEY": "${user_config.key}", "OTHER": "${user_config.other}"},
        }},
        "user_config": {
            "dirs": {"type": "directory", "title": "D", "description": "Folders", "multiple": true, "required": true},
            "level": {"type": "number", "title": "L", "description": "Level", "min": 1, "max": 9, "default": 3},
            "key": {"type": "string", "title": "K", "description": "Your key", "sensitive": true, "required": true},
            "other": {"type": "string", "title": "O", "description": "Optional"},
        },
    });
    let file = bundle(&bench, "clock.mcpb", &manifest("1.0.0", &asks), &[]);
    let run = |inputs: &[&str]| {
        let mut command = vec![
            "servers",
            "install",
            file.to_str().unwrap(),
            "--yes",
            "--json",
        ];
        for input in inputs {
            command.extend(["--input", input]);
        }
        bench.run(&command)
    };
    for (inputs, why) in [
        (&[][..], "--input dirs="),
        (&["dirs=notes"], "--input key="),
        (
            &["dirs=none", "key=env:KEY"],
            "it is a folder, and there is none",
        ),
        (
            &["dirs=notes", "key=env:KEY", "level=10"],
            "it is at most 9",
        ),
        (
            &["dirs=notes", "key=env:KEY", "level=1", "level=2"],
            "it takes one value",
        ),
        (
            &["dirs=notes", "key=env:KEY", "what=1"],
            "nothing is asked for by the name",
        ),
        (
            &["dirs=notes", "key=sk-secret-1234567890"],
            "cannot be stored safely",
        ),
    ] {
        let ran = run(inputs);
        assert_eq!(ran.exit, 1, "{inputs:?}");
        assert!(ran.stderr.contains(why), "{inputs:?}: {}", ran.stderr);
        assert_eq!(left(&bench), [""; 0], "{inputs:?}");
    }
    let done = done(run(&["dirs=notes", "dirs=.", "key=env:KEY"]));
    let (home, plan) = (bench.path(), &done["plan"]);
    let folder = plan["files"]["folder"].as_str().unwrap();
    let home = home.display();
    let want = format!("sh {folder}/server/run.sh {home}/notes {home}/. --level 3");
    assert_eq!(plan["command"], want);
    assert_eq!(plan["values"], json!({"API_KEY": "<env:KEY>"}));
    let profile = &plan["sandbox"]["profile"];
    assert!(profile["write"].to_string().contains("/notes"), "{profile}");
    assert!(
        !profile["write"].to_string().contains("bundles"),
        "{profile}"
    );
    let server = shown(&bench, "clock");
    assert_eq!(server["config"]["args"][1], "${input:dirs}");
    assert_eq!(server["config"]["args"][2], "${input:dirs#2}");
}

#[test]
fn a_failed_installation_leaves_the_installed_version_as_it_was() {
    let bench = Bench::new();
    let one = bundle(&bench, "clock-1.mcpb", &manifest("1.0.0", &json!({})), &[]);
    install(&bench, &one, &[]);
    assert_eq!(bench.run(&["call", "clock", "add", "a=1", "b=2"]).exit, 0);
    let before = left(&bench);
    // It asks for a secret that nothing may keep.
    let asks = json!({"user_config": {"key": {
        "type": "string", "title": "K", "description": "Key", "sensitive": true, "required": true}}});
    let two = bundle(&bench, "clock-2.mcpb", &manifest("2.0.0", &asks), &[]);
    let ran = bench.run(&[
        "servers",
        "update",
        "clock",
        "--to",
        two.to_str().unwrap(),
        "--yes",
        "--input",
        "key=sk-1234567890",
    ]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert_eq!(left(&bench), before);
    assert_eq!(bench.run(&["call", "clock", "add", "a=1", "b=2"]).exit, 0);
    // Another server is no update.
    let other = bundle(
        &bench,
        "other.mcpb",
        &manifest("2.0.0", &json!({"name": "other"})),
        &[],
    );
    let ran = bench.run(&[
        "servers",
        "update",
        "clock",
        "--to",
        other.to_str().unwrap(),
        "--yes",
    ]);
    assert!(ran.stderr.contains("another server"), "{}", ran.stderr);
    assert_eq!(left(&bench), before);
}

#[test]
fn a_signature_is_shown_and_not_believed() {
    let bench = Bench::new();
    let mut bytes = zip(&[
        file("manifest.json", &manifest("1.0.0", &json!({})).to_string()),
        file("server/run.sh", ""),
    ]);
    let der = b"..\x06\x03\x55\x04\x03\x0c\x07Ann Inc";
    bytes.extend(b"MCPB_SIG_V1");
    bytes.extend(u32::try_from(der.len()).unwrap().to_le_bytes());
    bytes.extend(der);
    bytes.extend(b"MCPB_SIG_END");
    let file = save(&bench, "signed.mcpb", &bytes);
    let said = done(bench.run(&["servers", "install", file.to_str().unwrap(), "--json"]));
    let notes = said["plan"]["notes"].to_string();
    assert!(
        notes.contains("Ann Inc") && notes.contains("not verified"),
        "{notes}"
    );
}

#[test]
fn a_server_json_and_a_package_are_installed_as_a_pinned_command() {
    let bench = Bench::new();
    let described = server(
        "com.example/weather",
        "1.0.2",
        json!([{
            "registryType": "npm", "identifier": "@example/weather", "version": "1.0.2",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "named", "name": "--units", "choices": ["c", "f"], "default": "c"}],
            "environmentVariables": [{"name": "API_KEY", "isSecret": true, "isRequired": true}],
        }]),
    );
    let file = bench.write("server.json", &described.to_string());
    let run = |more: &[&str]| {
        let command = [
            "servers",
            "install",
            file.to_str().unwrap(),
            "--yes",
            "--json",
        ];
        bench.run(&[&command, more].concat())
    };
    assert!(
        run(&["--input", "API_KEY=env:K", "--input", "units=k"])
            .stderr
            .contains("one of c, f")
    );
    let plan = &done(run(&["--input", "API_KEY=env:K", "--input", "units=f"]))["plan"].clone();
    assert_eq!(plan["command"], "npx -y @example/weather@1.0.2 --units f");
    assert_eq!(plan["values"], json!({"API_KEY": "<env:K>"}));
    assert_eq!(plan["sandbox"], Value::Null);
    let again = done(run(&["--input", "API_KEY=env:K"]));
    assert_eq!(again["plan"]["name"], "weather-2");
    assert!(
        again["plan"]["notes"]
            .to_string()
            .contains("installed from it, too")
    );

    let package = [
        "servers",
        "install",
        "oci:ghcr.io/example/weather:1.0",
        "--yes",
        "--json",
    ];
    let plan = &done(bench.run(&package))["plan"].clone();
    assert_eq!(
        plan["command"],
        "docker run -i --rm ghcr.io/example/weather:1.0"
    );
    assert!(
        plan["notes"].to_string().contains("only a digest"),
        "{plan}"
    );
    let unpinned = bench.run(&["servers", "install", "npm:weather", "--yes"]);
    assert!(
        unpinned.stderr.contains("names no version"),
        "{}",
        unpinned.stderr
    );
    let contained = [
        "servers",
        "install",
        "npm:weather@1.0.0",
        "--sandbox",
        "suggested",
        "--yes",
        "--json",
    ];
    let plan = &done(bench.run(&contained))["plan"].clone();
    assert_ne!(plan["sandbox"], Value::Null);
}

#[test]
fn a_crash_in_the_middle_is_cleaned_up_by_the_next_installation() {
    let bench = Bench::new();
    let database = data(&bench, "switchboard.db");
    let note = json!({"store": database, "server": "lost", "folder": "1.0.0-aa"});
    bench.write("data/bundles/lost/1.0.0-aa/manifest.json", "{}");
    bench.write("data/bundles/lost.pending", &note.to_string());
    bench.write("data/bundles/.new-half/server/run.sh", "");
    let one = bundle(&bench, "clock.mcpb", &manifest("1.0.0", &json!({})), &[]);
    install(&bench, &one, &[]);
    let left = left(&bench);
    assert!(
        !left
            .iter()
            .any(|it| it.contains("lost") || it.contains("half")),
        "{left:?}"
    );
}
