//! What a registry is asked, and that its answers are not just believed.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::done;
use crate::servers::bench::Bench;
use crate::servers::mirror::{Mirror, entry, server};
use crate::servers::zip::{bundle, manifest};

const NAME: &str = "com.example/weather";

fn npm(version: &str) -> Value {
    json!([{
        "registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org",
        "identifier": "@example/weather", "version": version, "transport": {"type": "stdio"},
    }])
}

fn install(
    bench: &Bench,
    mirror: &Mirror,
    what: &str,
    more: &[&str],
) -> crate::servers::bench::Ran {
    let command = [
        "servers",
        "install",
        what,
        "--registry",
        &mirror.base,
        "--json",
        "--yes",
    ];
    bench.run(&[&command, more].concat())
}

#[test]
fn a_server_of_the_registry_is_installed_listed_as_outdated_and_updated() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    mirror.publish(&server(NAME, "1.9.0", npm("1.9.0")));
    let plan = &done(install(&bench, &mirror, NAME, &[]))["plan"].clone();
    assert_eq!(plan["command"], "npx -y @example/weather@1.9.0");
    assert_eq!(plan["from"]["registry"], mirror.base);
    assert_eq!(
        mirror.asked(),
        ["/v0.1/servers/com.example%2Fweather/versions/latest"]
    );
    let outdated = || done(bench.run(&["servers", "outdated", "--json"]))["servers"][0].clone();
    assert_eq!(outdated()["state"], "current");

    mirror.publish(&server(NAME, "1.10.0", npm("1.10.0")));
    assert_eq!(
        outdated(),
        json!({
            "server": "weather", "version": "1.9.0", "latest": "1.10.0", "state": "outdated",
        })
    );
    let preview = done(bench.run(&["servers", "update", "--json"]));
    assert_eq!(preview["servers"][0]["state"], "outdated");
    assert_eq!(outdated()["state"], "outdated", "nothing has changed yet");
    let updated = done(bench.run(&["servers", "update", "--json", "--yes"]));
    let changes = updated["servers"][0]["changes"].as_array().unwrap();
    let whats: Vec<_> = changes
        .iter()
        .map(|it| it["what"].as_str().unwrap())
        .collect();
    assert_eq!(whats, ["version", "command"]);
    assert_eq!(outdated()["state"], "current");
    let again = done(bench.run(&["servers", "update", "weather", "--json"]));
    assert_eq!(again["servers"][0]["state"], "current");
}

#[test]
fn a_registry_that_takes_a_version_back_does_not_take_it_from_the_user() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    mirror.publish(&server(NAME, "1.10.0", npm("1.10.0")));
    done(install(&bench, &mirror, NAME, &[]));
    mirror.publish(&server(NAME, "1.9.0", npm("1.9.0")));
    let said = done(bench.run(&["servers", "update", "--json", "--yes"]));
    assert_eq!(said["servers"][0]["state"], "withdrawn");
    let wanted = [
        "servers", "update", "weather", "--to", "1.9.0", "--json", "--yes",
    ];
    assert_eq!(done(bench.run(&wanted))["servers"][0]["state"], "updated");
    let latest = format!("/v0.1/servers/{}/versions/latest", NAME.replace('/', "%2F"));
    mirror.put(
        &latest,
        entry(&server(NAME, "2.0.0", npm("2.0.0")), "deleted").to_string(),
    );
    let said = done(bench.run(&["servers", "update", "--json", "--yes"]));
    assert_eq!(said["servers"][0]["state"], "gone");
}

#[test]
fn a_registry_that_lies_is_not_believed() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    let at = |version: &str| format!("/v0.1/servers/com.example%2Fweather/versions/{version}");
    for (answer, why) in [
        (
            entry(
                &server("com.example/other", "1.0.0", npm("1.0.0")),
                "active",
            ),
            "it gave com.example/other",
        ),
        (
            entry(&server(NAME, "1.0.0", json!([])), "active"),
            "offers nothing",
        ),
        (
            entry(&server(NAME, "1.0.0", npm("latest")), "active"),
            "not one version",
        ),
        (json!({"servers": []}), "cannot be believed"),
        (json!([]), "cannot be believed"),
    ] {
        mirror.put(&at("latest"), answer.to_string());
        let ran = install(&bench, &mirror, NAME, &[]);
        assert_eq!(ran.exit, 1, "{}", ran.stdout);
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
    }
    mirror.put(
        &at("1.0.0"),
        entry(&server(NAME, "2.0.0", npm("2.0.0")), "active").to_string(),
    );
    let ran = install(&bench, &mirror, "com.example/weather@1.0.0", &[]);
    assert!(
        ran.stderr.contains("asked for version 1.0.0"),
        "{}",
        ran.stderr
    );
    mirror.put(&at("latest"), vec![b' '; 5 << 20]);
    let ran = install(&bench, &mirror, NAME, &[]);
    assert!(
        ran.stderr.contains("more than 4194304 bytes"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_registry_that_is_down_or_somewhere_else_is_said() {
    let bench = Bench::new();
    for (base, exit) in [
        ("http://127.0.0.1:9", 4),
        ("http://example.com", 4),
        ("nowhere", 4),
    ] {
        let ran = bench.run(&["servers", "install", NAME, "--registry", base, "--yes"]);
        assert_eq!(ran.exit, exit, "{base}: {}", ran.stderr);
    }
    let listed = done(bench.run(&["servers", "list", "--json"]));
    assert!(!listed.to_string().contains("weather"), "{listed}");
}

#[test]
fn words_name_the_servers_that_could_be_meant_page_by_page() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    let first = "/v0.1/servers?search=weather&version=latest&limit=100";
    let page = |name: &str, next: Value| {
        let item = entry(&server(name, "1.0.0", npm("1.0.0")), "active");
        json!({"servers": [item], "metadata": {"count": 1, "nextCursor": next}}).to_string()
    };
    mirror.put(first, page("com.example/weather", json!("a:b")));
    // A list without an end.
    mirror.put(
        &format!("{first}&cursor=a%3Ab"),
        page("org.example/weather", json!("a:b")),
    );
    let ran = install(&bench, &mirror, "weather", &[]);
    assert_eq!(ran.exit, 1);
    for name in ["com.example/weather: A server", "org.example/weather"] {
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
    }
    assert_eq!(mirror.asked().len(), 5);
    // So it is for a whole name that is not there.
    let ran = install(&bench, &mirror, "net.example/weather", &[]);
    assert!(
        ran.stderr.contains("has no net.example/weather"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("com.example/weather"), "{}", ran.stderr);
}

#[test]
fn a_remote_server_is_installed_by_its_url_and_headers() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    let mut described = server(NAME, "1.0.0", npm("1.0.0"));
    described["remotes"] = json!([{
        "type": "streamable-http",
        "url": "https://{region}.example.com/mcp",
        "variables": {"region": {"choices": ["eu", "us"], "default": "eu"}},
        "headers": [{"name": "Authorization", "value": "Bearer {token}",
            "variables": {"token": {"isSecret": true, "isRequired": true}}}],
    }]);
    mirror.publish(&described);
    let inputs = [
        "--package",
        "remote",
        "--input",
        "region=us",
        "--input",
        "token=env:TOKEN",
    ];
    let plan = &done(install(&bench, &mirror, NAME, &inputs))["plan"].clone();
    assert_eq!(plan["command"], "https://us.example.com/mcp");
    assert_eq!(
        plan["values"],
        json!({"Authorization": "Bearer <env:TOKEN>"})
    );
    assert_eq!(plan["sandbox"], Value::Null);
    assert!(
        plan["notes"].to_string().contains("--package npm"),
        "{plan}"
    );
}

#[test]
fn a_bundle_of_the_registry_is_the_one_that_was_described() {
    let (bench, mirror) = (Bench::new(), Mirror::open());
    let file = bundle(&bench, "clock.mcpb", &manifest("1.0.0", &json!({})), &[]);
    let bytes = std::fs::read(&file).unwrap();
    let digest = Sha256::digest(&bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
    let described = |sha256: Value| {
        server(
            "com.example/clock",
            "1.0.0",
            json!([{
                "registryType": "mcpb", "identifier": format!("{}/clock.mcpb", mirror.base),
                "version": "1.0.0", "fileSha256": sha256, "transport": {"type": "stdio"},
            }]),
        )
    };
    mirror.publish(&described(json!("0".repeat(64))));
    let ran = install(&bench, &mirror, "com.example/clock", &[]);
    assert!(ran.stderr.contains("no such file"), "{}", ran.stderr);
    mirror.put("/clock.mcpb", bytes);
    let ran = install(&bench, &mirror, "com.example/clock", &[]);
    assert!(
        ran.stderr.contains("another file than was described"),
        "{}",
        ran.stderr
    );
    assert_eq!(super::left(&bench), [""; 0]);
    mirror.publish(&described(Value::Null));
    let ran = install(&bench, &mirror, "com.example/clock", &[]);
    assert!(ran.stderr.contains("fileSha256"), "{}", ran.stderr);
    mirror.publish(&described(json!(digest)));
    let plan = &done(install(&bench, &mirror, "com.example/clock", &["--weaker"]))["plan"].clone();
    assert_eq!(plan["from"]["kind"], "mcpb");
    assert_eq!(plan["from"]["registry"], mirror.base);
    assert_ne!(plan["sandbox"], Value::Null);
}
