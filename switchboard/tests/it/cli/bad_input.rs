//! Files that are missing, empty, broken, hostile, huge or binary, given to every verb that reads one.

use super::Desk;

/// What each verb does with a file that it cannot use. `FILE` stands for it.
const VERBS: [(&[&str], i32); 9] = [
    (&["run", "hi", "--output-schema", "FILE"], 1),
    (&["run", "hi", "--replay", "FILE"], 2),
    (&["run", "hi", "--config", "FILE"], 1),
    (&["call", "demo", "add", "--args", "@FILE"], 1),
    (&["tools", "--config", "FILE"], 1),
    (&["servers", "list", "--config", "FILE"], 1),
    (&["import", "--yes", "FILE"], 1),
    (&["demo-model", "--script", "FILE"], 1),
    (&["store", "copy", "FILE", "copy.db"], 1),
];

/// How each file is bad, and what it is.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "broken.json",
            b"{\"mcpServers\": {\"a\": {\"command\": 1".to_vec(),
        ),
        (
            "hostile.json",
            b"{\"mcpServers\": {}}, \x1b[2J\x1b]0;title\x07".to_vec(),
        ),
        ("huge.json", vec![b'['; 17 << 20]),
        ("binary.json", b"\xff\xfe\x00".to_vec()),
    ]
}

#[test]
fn every_verb_names_the_file_that_it_cannot_use_and_takes_nothing_of_it() {
    let desk = Desk::new();
    for (name, bytes) in files() {
        let file = desk.home().join(name);
        std::fs::write(&file, &bytes).unwrap();
        for (verb, exit) in VERBS {
            let path = file.display().to_string();
            let words: Vec<String> = verb
                .iter()
                .map(|word| word.replace("FILE", &path))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = desk.command(&words);
            let output = command.current_dir(desk.home()).output().unwrap();
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(
                output.status.code(),
                Some(exit),
                "{name}: {verb:?}: {shown}"
            );
            assert!(
                shown.contains(name),
                "{name}: {verb:?} does not name it: {shown}"
            );
            assert!(!shown.contains('\u{1b}'), "{name}: {verb:?}: {shown:?}");
            assert!(
                shown.len() < 2000,
                "{name}: {verb:?} is too long: {}",
                shown.len()
            );
            assert_eq!(
                std::fs::read(&file).unwrap(),
                bytes,
                "{verb:?} changed {name}"
            );
        }
    }
    let servers = desk.json(&["servers", "list"]);
    assert_eq!(
        servers["servers"],
        serde_json::json!([]),
        "nothing was imported"
    );
    assert!(!desk.home().join("copy.db").exists(), "nothing was copied");
}

#[test]
fn a_file_that_is_missing_is_named() {
    let desk = Desk::new();
    for (verb, exit) in VERBS {
        let words: Vec<String> = verb
            .iter()
            .map(|it| it.replace("FILE", "nowhere.json"))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = desk
            .command(&words)
            .current_dir(desk.home())
            .output()
            .unwrap();
        let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{verb:?}: {shown}");
        assert!(shown.contains("nowhere.json"), "{verb:?}: {shown}");
    }
}

#[test]
fn an_empty_file_stays_empty() {
    let desk = Desk::new();
    let file = desk.home().join("empty");
    std::fs::write(&file, "").unwrap();
    let path = file.display().to_string();
    let error = desk.error(&["store", "copy", &path, "copy.db"]);
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("is empty"),
        "{error}"
    );
    assert_eq!(desk.run(&["import", "--yes", &path]).status.code(), Some(1));
    assert_eq!(desk.run(&["run", "-f", &path]).status.code(), Some(1));
    assert_eq!(std::fs::read(&file).unwrap(), b"");
}
