//! What a `server.json` and a bundle offer, and how their inputs become a command.

use mcp_config::{ConfigFile, Dialect, Endpoint, InputKind, ServerJson};
use serde_json::{Value, json};

/// The command line of a package, with one value for each input.
fn command(package: Value) -> Result<String, String> {
    let file = json!({"name": "com.example/it", "version": "1.0.0", "packages": [package]});
    let file = ServerJson::read(&file.to_string()).unwrap();
    let config = file.config(0, &|_| 1)?;
    Ok(config.endpoint().to_string())
}

fn package(kind: &str, name: &str, version: &str, more: Value) -> Value {
    let mut package = json!({
        "registryType": kind,
        "identifier": name,
        "version": version,
        "transport": {"type": "stdio"},
    });
    for (name, value) in more.as_object().unwrap() {
        package[name] = value.clone();
    }
    package
}

#[test]
fn packages_are_pinned_and_run_by_the_program_of_their_registry() {
    let env = json!({"environmentVariables": [{"name": "KEY", "isSecret": true}],
        "runtimeArguments": [{"type": "named", "name": "--network", "value": "none"}],
        "packageArguments": [{"type": "positional", "value": "serve"}]});
    let podman = json!({"runtimeHint": "podman"});
    let ghcr = json!({"registryBaseUrl": "https://ghcr.io"});
    for (kind, name, version, more, want) in [
        ("npm", "@a/b-c", "1.2.3", json!({}), "npx -y @a/b-c@1.2.3"),
        (
            "npm",
            "b",
            "1.0.0-rc.1+x86",
            json!({"runtimeHint": "bunx"}),
            "bunx b@1.0.0-rc.1+x86",
        ),
        (
            "pypi",
            "a_b.c",
            "1!2.0.post1",
            json!({}),
            "uvx a_b.c==1!2.0.post1",
        ),
        ("nuget", "A.B", "2.0", json!({}), "dnx A.B@2.0 --yes"),
        (
            "oci",
            "ghcr.io/a/b",
            "1.0",
            env,
            "docker run -i --rm -e KEY --network none ghcr.io/a/b:1.0 serve",
        ),
        (
            "oci",
            "localhost:5000/a@sha256:00ff",
            "",
            podman,
            "podman run -i --rm localhost:5000/a@sha256:00ff",
        ),
        (
            "oci",
            "ghcr.io/a/b:1",
            "",
            ghcr,
            "docker run -i --rm ghcr.io/a/b:1",
        ),
    ] {
        assert_eq!(
            command(package(kind, name, version, more)).as_deref(),
            Ok(want)
        );
    }
}

#[test]
fn a_package_that_could_be_something_else_is_no_offer() {
    let plain = || json!({});
    for (kind, name, version, more, why) in [
        ("npm", "b", "", plain(), "has no \"version\""),
        ("pypi", "b", "", plain(), "has no \"version\""),
        ("nuget", "b", "", plain(), "has no \"version\""),
        ("oci", "a/b", "", plain(), "has no \"version\""),
        ("oci", "a/b:latest", "", plain(), "no image of one version"),
        ("oci", "a/b", "latest", plain(), "no image of one version"),
        ("npm", "b", "latest", plain(), "is not one version"),
        ("npm", "b", "^1.0.0", plain(), "is not one version"),
        ("npm", "b", "1.x", plain(), "is not one version"),
        ("pypi", "b", "1.*", plain(), "is not one version"),
        ("npm", "b", "npm:evil@1.0.0", plain(), "is not one version"),
        (
            "npm",
            "github:evil/b",
            "1.0.0",
            plain(),
            "not a package name",
        ),
        ("npm", "../b", "1.0.0", plain(), "not a package name"),
        ("npm", "@a", "1.0.0", plain(), "not a package name"),
        ("npm", "--eval=x", "1.0.0", plain(), "not a package name"),
        (
            "pypi",
            "b @ https://evil.example/b.whl",
            "1",
            plain(),
            "not a package name",
        ),
        ("oci", "-v", "1", plain(), "no image"),
        ("cargo", "b", "1.0.0", plain(), "cannot be started"),
        (
            "npm",
            "b",
            "1.0.0",
            json!({"runtimeHint": "sh"}),
            "wants \"sh\"",
        ),
        (
            "npm",
            "b",
            "1.0.0",
            json!({"runtimeHint": "docker"}),
            "wants \"docker\"",
        ),
        (
            "npm",
            "b",
            "1.0.0",
            json!({"registryBaseUrl": "https://npm.example.com"}),
            "would not look",
        ),
        (
            "oci",
            "a/b",
            "1",
            json!({"registryBaseUrl": "https://ghcr.io"}),
            "would not look",
        ),
        (
            "npm",
            "b",
            "1.0.0",
            json!({"transport": {"type": "sse"}}),
            "its transport",
        ),
    ] {
        let refused = command(package(kind, name, version, more)).unwrap_err();
        assert!(refused.contains(why), "{name} {version}: {refused}");
    }
}

#[test]
fn each_value_of_an_input_is_on_the_command_line_and_one_without_is_not() {
    let arguments = json!({
        "packageArguments": [
            {"type": "named", "name": "--root", "isRepeated": true, "format": "filepath"},
            {"type": "positional", "valueHint": "units", "choices": ["c", "f"]},
        ],
        "environmentVariables": [
            {"name": "KEY", "isSecret": true, "isRequired": true},
            {"name": "LEVEL", "format": "number"},
            {"name": "URL", "value": "https://{region}.example.com", "variables": {"region": {}}},
        ],
    });
    let file = json!({
        "name": "com.example/it",
        "packages": [package("npm", "b", "1.0.0", arguments)],
        "remotes": [{"type": "sse", "url": "https://{tenant}.example.com/sse",
            "variables": {"tenant": {"isRequired": true}},
            "headers": [{"name": "X-Key", "isSecret": true}, {"name": "X-Other"}]}],
    });
    let file = ServerJson::read(&file.to_string()).unwrap();
    let offers: Vec<_> = file.offers().collect();
    let ids: Vec<_> = offers[0]
        .inputs
        .iter()
        .map(|it| (&*it.id, it.required))
        .collect();
    let want = [
        ("KEY", true),
        ("LEVEL", false),
        ("region", true),
        ("root", false),
        ("units", false),
    ];
    assert_eq!(ids, want);
    assert_eq!(offers[0].inputs[1].kind, InputKind::Number);
    assert!(offers[0].inputs[3].multiple);

    let none = file
        .config(0, &|input| usize::from(input.required))
        .unwrap();
    assert_eq!(none.endpoint().to_string(), "npx -y b@1.0.0");
    let Endpoint::Stdio(command) = none.endpoint() else {
        panic!("{none:?}");
    };
    assert!(!command.env().contains_key("LEVEL"));
    let some = file.config(0, &|input| if input.id == "root" { 2 } else { 0 });
    assert_eq!(
        some.unwrap().endpoint().to_string(),
        "npx -y b@1.0.0 --root ${input:root} --root ${input:root#2}"
    );
    let remote = file
        .config(1, &|input| usize::from(input.id == "X-Key"))
        .unwrap();
    let Endpoint::Remote(remote) = remote.endpoint() else {
        panic!("{remote:?}");
    };
    assert_eq!(
        remote.url().expose(),
        "https://${input:tenant}.example.com/sse"
    );
    assert_eq!(remote.headers().keys().collect::<Vec<_>>(), ["X-Key"]);
}

#[test]
fn a_bundles_lists_are_spread_and_what_has_no_value_is_left_out() {
    let manifest = json!({
        "manifest_version": "0.3", "name": "it", "version": "1.0.0",
        "server": {"type": "node", "entry_point": "i.js", "mcp_config": {
            "command": "node",
            "args": ["i.js", "${user_config.dirs}", "--db", "${user_config.db}", "--n=${user_config.n}"],
            "env": {"DIRS": "${user_config.dirs}", "DB": "${user_config.db}"},
        }},
        "user_config": {
            "dirs": {"type": "directory", "title": "D", "description": "d", "multiple": true,
                "default": ["${HOME}/a", "/b"]},
            "db": {"type": "file", "title": "D", "description": "d"},
            "n": {"type": "number", "title": "N", "description": "n", "min": 1, "max": 9, "default": 3},
        },
    });
    let file = ConfigFile::read(&manifest.to_string(), Dialect::Bundle).unwrap();
    let [dirs, db, n] = file.inputs() else {
        panic!("{:?}", file.inputs());
    };
    assert_eq!((dirs.kind, dirs.multiple), (InputKind::Folder, true));
    assert_eq!(dirs.defaults, ["${HOME}/a", "/b"]);
    assert_eq!((db.kind, db.required), (InputKind::File, false));
    assert_eq!(
        (n.min, n.max, n.default.as_deref()),
        (Some(1.0), Some(9.0), Some("3"))
    );
    let spread = file.with_values(&|input| match &*input.id {
        "dirs" => 2,
        "db" => 0,
        _ => 1,
    });
    let Endpoint::Stdio(command) = spread.servers()[0].endpoint() else {
        panic!("{spread:?}");
    };
    let args: Vec<_> = command.args().iter().map(|arg| arg.expose()).collect();
    assert_eq!(
        args,
        ["i.js", "${input:dirs}", "${input:dirs#2}", "--n=${input:n}"]
    );
    let env: Vec<_> = command
        .env()
        .iter()
        .map(|(name, it)| (&**name, it.expose()))
        .collect();
    assert_eq!(env, [("DIRS", "${input:dirs},${input:dirs#2}")]);
}

#[test]
fn a_bundle_whose_program_uv_runs_needs_no_command() {
    let manifest = json!({"manifest_version": "0.4", "name": "it", "version": "1.0.0",
        "server": {"type": "uv", "entry_point": "src/server.py"}});
    let file = ConfigFile::read(&manifest.to_string(), Dialect::Bundle).unwrap();
    let file = file.in_folder("/b");
    let want = "uv run --directory /b /b/src/server.py";
    assert_eq!(file.servers()[0].endpoint().to_string(), want);
}
