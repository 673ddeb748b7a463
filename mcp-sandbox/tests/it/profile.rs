//! Profiles and hosts as people write and programs store them.

use mcp_sandbox::{Guarantee, HostRule, Network, Profile, Sandbox};
use mcp_transport::ServerCommand;

fn host(text: &str) -> HostRule {
    text.parse().unwrap()
}

#[test]
fn a_host_covers_itself_and_a_star_covers_only_what_is_below() {
    let rule = host("Example.com");
    assert!(rule.covers("example.com", 443) && rule.covers("EXAMPLE.com.", 80));
    assert!(!rule.covers("www.example.com", 443) && !rule.covers("notexample.com", 443));
    let below = host("*.example.com:443");
    assert!(below.covers("www.example.com", 443) && below.covers("a.b.example.com", 443));
    assert!(!below.covers("example.com", 443) && !below.covers(".example.com", 443));
    assert!(!below.covers("www.example.com", 80) && !below.covers("evilexample.com", 443));
    assert!(host("[::1]:80").covers("::1", 80));
}

#[test]
fn what_names_no_host_is_refused() {
    for text in [
        "",
        "*",
        "*.com",
        "*.",
        "a b",
        "http://x.y",
        "x:0",
        "x:70000",
        "[1::",
        "x/y",
        ".a.b",
    ] {
        let error = text.parse::<HostRule>().unwrap_err();
        assert!(error.to_string().contains("is not a host"), "{text}");
    }
}

#[test]
fn a_profile_is_stored_and_read_and_unknown_members_are_refused() {
    let profile = Profile::new()
        .with_read("~/notes")
        .with_write("/data")
        .with_network(Network::Hosts(vec![host("*.example.com:443")]))
        .with_attributes();
    let text = serde_json::to_string(&profile).unwrap();
    assert!(
        text.contains(r#""network":{"hosts":["*.example.com:443"]}"#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
    assert_eq!(
        serde_json::from_str::<Profile>("{}").unwrap(),
        Profile::new()
    );
    serde_json::from_str::<Profile>(r#"{"reed":["/"]}"#).unwrap_err();
    serde_json::from_str::<Profile>(r#"{"network":{"hosts":["*"]}}"#).unwrap_err();
}

#[test]
fn variables_that_are_configured_for_a_command_are_passed_on() {
    let command = ServerCommand::new("x")
        .with_env("A", "1")
        .with_inherited("B");
    let variables = Profile::for_command(&command).variables;
    assert_eq!(variables.into_iter().collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn a_profile_that_accepts_one_shortcoming_accepts_no_other() {
    let agreed = Profile::new().without(Guarantee::Processes);
    let text = serde_json::to_string(&agreed).unwrap();
    assert!(text.contains(r#""mayLack":["processes"]"#), "{text}");
    assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), agreed);
    let missing = Sandbox::new(agreed.clone(), "/own").containment();
    let missing: Vec<_> = missing.missing().map(|(which, _)| which).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let starts = |profile: Profile| {
        let sandbox = Sandbox::new(profile, folder.path());
        let connect = mcp_transport::StdioConnect::new(
            ServerCommand::new("cat"),
            std::sync::Arc::new(sandbox),
        );
        runtime.block_on(connect.start()).is_ok()
    };
    let lacking = missing
        .iter()
        .fold(Profile::new(), |profile, which| profile.without(*which));
    assert!(starts(lacking));
    assert_eq!(starts(Profile::new()), missing.is_empty());
}
