//! Our secrets in arguments.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_policy::{
    AskReason, Caller, DenyReason, Effect, Grant, Mode, Policy, Rule, Secrets, ToolInfo, Verdict,
};

const TOKEN: &str = "ghp_0123456789/+abc";

fn known() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add_of_server("github", "Authorization", &format!("Bearer {TOKEN}"));
    secrets.add_of_server("github", "MODE", "short");
    secrets.add_other("the key of the model provider openai", "sk-abcdefgh");
    secrets
}

fn found(secrets: &Secrets, server: &str, arguments: &Value) -> Option<String> {
    let arguments = serde_json::from_value(arguments.clone()).unwrap();
    secrets.find(server, &arguments).map(ToString::to_string)
}

#[test]
fn a_secret_is_found_wherever_it_is_in_arguments_and_its_value_is_not_shown() {
    let percent: String = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let places = [
        json!({ "a": TOKEN }),
        json!({"a": {"b": [1, format!("before{TOKEN}after")]}}),
        json!({ TOKEN: 1 }),
        json!({ "url": format!("https://x.example/?q={percent}") }),
        json!({ "url": TOKEN.replace('/', "%2F").replace('+', "%2B") }),
    ];
    for place in places {
        let whose = found(&known(), "mail", &place).unwrap();
        assert_eq!(whose, "Authorization of the server \"github\"", "{place}");
    }
    assert!(!format!("{:?}", known()).contains("ghp_"));
    let key = found(&known(), "mail", &json!({"a": "sk-abcdefgh"})).unwrap();
    assert_eq!(key, "the key of the model provider openai");
}

#[test]
fn a_server_gets_its_own_secrets_also_where_another_has_the_same() {
    let arguments = json!({ "a": TOKEN });
    assert_eq!(found(&known(), "github", &arguments), None);
    let mut shared = known();
    shared.add_of_server("actions", "TOKEN", TOKEN);
    assert_eq!(found(&shared, "actions", &arguments), None);
    assert!(found(&shared, "mail", &arguments).is_some());
    assert_eq!(found(&known(), "mail", &json!({"a": "a short text"})), None);
}

#[test]
fn no_grant_rule_or_mode_lets_a_call_with_a_secret_run_alone() {
    let schema = serde_json::from_str("{}").unwrap();
    let tool = ToolInfo::new("mail", "send", schema).with_fingerprint("sha256:a");
    let free = Policy::new(Mode::Auto)
        .with_rule(Rule::new(Effect::Allow, "*", "*"))
        .with_grant(Grant::tool(tool.definition()));
    let hold = |policy: &Policy| policy.hold(policy.judge_for(&Caller::default(), &tool, None));
    assert_eq!(free.judge(&tool), Verdict::Allow);
    assert_eq!(hold(&free), Verdict::Ask(AskReason::Secret));
    let unattended = Verdict::Deny(DenyReason::Unattended);
    assert_eq!(hold(&free.clone().unattended()), unattended);
    let denied = free.with_rule(Rule::new(Effect::Deny, "mail", "*"));
    assert_eq!(hold(&denied), Verdict::Deny(DenyReason::Rule));
}

/// Base64, as everyone writes it.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let all = three.iter().chain([&0, &0]).take(3);
        let number = all.fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        for at in 0..4 {
            let index = number >> (18 - 6 * at) & 63;
            text.push(if at > three.len() {
                '='
            } else {
                char::from(alphabet[index])
            });
        }
    }
    text
}

proptest! {
    #[test]
    fn a_secret_is_found_in_any_text_in_base64(
        before in "\\PC{0,12}", secret in "[!-~]{8,40}", after in "\\PC{0,12}", url in any::<bool>(),
    ) {
        let standard = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let safe = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let text = format!("{before}{secret}{after}");
        let encoded = base64(text.as_bytes(), if url { safe } else { standard });
        let (head, tail) = encoded.split_at(encoded.len() / 2);
        let mut secrets = Secrets::default();
        secrets.add_of_server("a", "KEY", &secret);
        for arguments in [json!({ "x": encoded }), json!({"x": format!("{head}\r\n{tail}")})] {
            prop_assert!(found(&secrets, "b", &arguments).is_some(), "{}", arguments);
        }
    }
}
