//! Bundles that mean harm: each is refused before anything of it is written.

use serde_json::json;

use super::left;
use crate::servers::bench::Bench;
use crate::servers::zip::{Entry, file, manifest, save, zip};

/// A bundle with one more entry.
fn with(bench: &Bench, entries: &[Entry]) -> String {
    let mut all = vec![
        file("manifest.json", &manifest("1.0.0", &json!({})).to_string()),
        file("server/run.sh", ""),
    ];
    all.extend_from_slice(entries);
    refused(bench, &zip(&all))
}

/// Why a bundle is refused. Nothing of it is left, and nothing else has changed.
#[track_caller]
fn refused(bench: &Bench, bytes: &[u8]) -> String {
    let path = save(bench, "bad.mcpb", bytes);
    let ran = bench.run(&["servers", "install", path.to_str().unwrap(), "--yes"]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert_eq!(left(bench), [""; 0], "{}", ran.stderr);
    for trace in ["evil", "data/evil", "data/bundles/evil"] {
        assert!(!bench.path().join(trace).exists(), "{trace}");
    }
    ran.stderr
}

#[test]
fn names_that_lead_out_of_the_bundle_are_refused() {
    let bench = Bench::new();
    for name in [
        "../evil",
        "../../../../evil",
        "server/../../evil",
        "/tmp/evil",
        "//evil",
        "..\\evil",
        "C:\\evil",
        "C:/evil",
        "./evil",
        "server//evil",
        "evil\u{0}.js",
        "evil\n",
    ] {
        let why = with(&bench, &[file(name, "x")]);
        assert!(why.contains("the name"), "{name:?}: {why}");
    }
    let mut raw = file("x", "x");
    raw.name = vec![b'a', 0xff];
    assert!(with(&bench, &[raw]).contains("not UTF-8"));
    assert!(with(&bench, &[file(&"d/".repeat(80), "x")]).contains("too deep"));
    assert!(with(&bench, &[file(&"n".repeat(300), "x")]).contains("too long"));
}

#[test]
fn links_devices_and_encrypted_files_are_refused() {
    let bench = Bench::new();
    for (mode, why) in [
        (0o120_777, "neither a file nor a folder"),
        (0o010_644, "neither a file nor a folder"),
        (0o020_644, "neither a file nor a folder"),
        (0o140_644, "neither a file nor a folder"),
    ] {
        let mut link = file("link", "/etc");
        link.mode = mode;
        assert!(with(&bench, &[link]).contains(why), "{mode:o}");
    }
    let mut locked = file("locked", "x");
    locked.flags = 1;
    assert!(with(&bench, &[locked]).contains("bundle is refused"));
    let mut odd = file("odd", "x");
    odd.method = 12;
    assert!(with(&bench, &[odd]).contains("bundle is refused"));
}

#[test]
fn names_that_meet_another_one_are_refused() {
    let bench = Bench::new();
    for names in [
        ["a", "a"],
        ["a", "A"],
        ["a", "a/b"],
        ["Lib/a", "lib/b"],
        ["manifest.JSON", "x"],
        ["Server/run2.sh", "x"],
    ] {
        let why = with(&bench, &names.map(|name| file(name, "x")));
        assert!(
            why.contains("in one place") || why.contains("broken ZIP"),
            "{names:?}: {why}"
        );
    }
}

#[test]
fn bundles_that_are_too_big_or_lie_about_their_size_are_refused() {
    let bench = Bench::new();
    // A thousandth of what it becomes, and honest about it.
    let mut bomb = file("bomb", &"0".repeat(1 << 20));
    bomb.size = Some(3 << 30);
    assert!(with(&bench, &[bomb.clone()]).contains("holds more than 2048 MiB"));
    for size in [10, 2 << 20] {
        bomb.size = Some(size);
        let why = with(&bench, &[bomb.clone()]);
        assert!(
            why.contains("another size") || why.contains("cannot be written"),
            "{why}"
        );
    }
    let many: Vec<Entry> = (0..50_001).map(|n| file(&format!("f{n}"), "")).collect();
    assert!(with(&bench, &many).contains("more than 50000 files"));
}

#[test]
fn what_is_no_bundle_is_refused() {
    let bench = Bench::new();
    assert!(refused(&bench, b"no zip").contains("no ZIP file"));
    assert!(refused(&bench, b"").contains("no ZIP file"));
    assert!(refused(&bench, &zip(&[])).contains("no manifest.json"));
    assert!(refused(&bench, &zip(&[file("a/manifest.json", "{}")])).contains("no manifest.json"));
    let only = |text: &str| zip(&[file("manifest.json", text), file("server/run.sh", "")]);
    assert!(refused(&bench, &only("{")).contains("manifest.json"));
    assert!(refused(&bench, &only(&"x".repeat(2 << 20))).contains("has more than"));
    let foreign = manifest("1.0.0", &json!({"compatibility": {"platforms": ["beos"]}}));
    assert!(refused(&bench, &only(&foreign.to_string())).contains("not for"));
    let server =
        json!({"type": "node", "entry_point": "gone.js", "mcp_config": {"command": "node"}});
    let gone = manifest("1.0.0", &json!({ "server": server }));
    assert!(refused(&bench, &only(&gone.to_string())).contains("not in the bundle"));
    let asks =
        json!({"type": "node", "mcp_config": {"command": "node", "args": ["${user_config.it}"]}});
    let asks = manifest("1.0.0", &json!({ "server": asks }));
    assert!(refused(&bench, &only(&asks.to_string())).contains("does not describe"));
    // Two descriptions of one file, of which a careless reader takes the other.
    let mut two = file("server/x", "x");
    two.local = Some(b"../evilx".to_vec());
    assert!(with(&bench, &[two]).contains("broken ZIP"));
    let whole = only(&manifest("1.0.0", &json!({})).to_string());
    for cut in [whole.len() / 4, whole.len() / 2, whole.len() - 4] {
        refused(&bench, &whole[..cut]);
    }
}

#[test]
fn a_version_that_is_a_path_leads_nowhere() {
    let bench = Bench::new();
    let text = manifest("../../../../evil", &json!({})).to_string();
    let path = save(
        &bench,
        "x.mcpb",
        &zip(&[file("manifest.json", &text), file("server/run.sh", "")]),
    );
    let ran = bench.run(&[
        "servers",
        "install",
        path.to_str().unwrap(),
        "--yes",
        "--weaker",
    ]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(!bench.path().join("evil").exists());
    assert!(
        left(&bench).iter().all(|it| it.contains("/data/bundles/")),
        "{:?}",
        left(&bench)
    );
}
