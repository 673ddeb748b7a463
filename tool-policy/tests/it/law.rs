//! What holds for every policy.

use std::collections::BTreeMap;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::ToolAnnotations;
use proptest::prelude::*;
use proptest::sample::select;
use tool_policy::{
    AskReason, BUILT_IN, Caller, DenyReason, Effect, Grant, Mode, Pattern, Policy, Rule, ToolInfo,
    Verdict, reader, stand_ins,
};

fn names() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "ab", "*", "a*"]).prop_map(str::to_owned)
}

fn tools() -> impl Strategy<Value = ToolInfo> {
    let hint = || any::<Option<bool>>();
    let place = (names(), names(), names(), names());
    (place, any::<bool>(), hint(), hint()).prop_map(
        |((server, identity, tool, fingerprint), trusted, read_only, destructive)| {
            let mut hints = ToolAnnotations::default();
            hints.read_only_hint = read_only;
            hints.destructive_hint = destructive;
            ToolInfo::new(server, tool, RawObject::empty())
                .with_server_identity(identity)
                .with_fingerprint(fingerprint)
                .with_annotations(hints)
                .with_trust(trusted)
        },
    )
}

fn grants() -> impl Strategy<Value = Grant> {
    let caller = select(vec!["", "ann", "bob"]).prop_map(Caller::new);
    let tool = tools().prop_map(|tool| Grant::tool(tool.definition()));
    let fingerprints = prop::collection::btree_map(names(), names(), 0..4);
    let all = (names(), names(), fingerprints)
        .prop_map(|(server, identity, tools)| Grant::read_only(server, identity, tools));
    (caller, prop_oneof![tool, all]).prop_map(|(caller, grant)| grant.for_caller(caller))
}

fn rules() -> impl Strategy<Value = Rule> {
    let effects = select(vec![Effect::Allow, Effect::Ask, Effect::Deny]);
    (effects, names(), names()).prop_map(|(effect, server, tool)| Rule::new(effect, server, tool))
}

fn modes() -> impl Strategy<Value = Mode> {
    select(vec![Mode::Ask, Mode::AutoRead, Mode::Auto, Mode::Plan])
}

prop_compose! {
    fn policies()(
        mode in modes(),
        rules in prop::collection::vec(rules(), 0..4),
        grants in prop::collection::vec(grants(), 0..4),
        pins in prop::collection::vec(tools(), 0..3),
        attended in any::<bool>(),
    ) -> Policy {
        let policy = rules.into_iter().fold(Policy::new(mode), Policy::with_rule);
        let policy = grants.into_iter().fold(policy, Policy::with_grant);
        let pins = pins.iter().map(ToolInfo::definition);
        let policy = pins.fold(policy, Policy::with_pin);
        if attended { policy } else { policy.unattended() }
    }
}

/// The fingerprints of a server's tools, as a person is shown them.
fn shown(tools: &[ToolInfo], server: &str) -> BTreeMap<String, String> {
    tools
        .iter()
        .filter(|tool| tool.server == server && tool.is_read_only())
        .map(|tool| (tool.tool.clone(), tool.fingerprint.clone()))
        .collect()
}

proptest! {
    #[test]
    fn a_grant_never_covers_a_changed_or_added_definition(
        then in prop::collection::vec(tools(), 1..5),
        now in tools(),
        for_all in any::<bool>(),
    ) {
        let first = &then[0];
        let grant = match for_all {
            false => Grant::tool(first.definition()),
            true => Grant::read_only(
                &first.server, &first.server_identity, shown(&then, &first.server)),
        };
        let policy = Policy::default().with_grant(grant);
        let seen = then.iter().any(|tool| {
            let same = tool.server == now.server && tool.tool == now.tool;
            same && tool.fingerprint == now.fingerprint
        });
        let same_server = now.server_identity == first.server_identity;
        if !seen || !same_server {
            prop_assert_ne!(policy.judge(&now), Verdict::Allow);
        }
    }

    #[test]
    fn a_tool_that_is_not_as_it_was_granted_is_asked_for_in_every_mode(
        granted in tools(), fingerprint in names(), mode in modes(), read_only in any::<bool>(),
    ) {
        let now = granted.clone().with_fingerprint(fingerprint);
        let (server, identity) = (&granted.server, &granted.server_identity);
        let tools = BTreeMap::from([(granted.tool.clone(), granted.fingerprint.clone())]);
        let grant = match read_only {
            false => Grant::tool(granted.definition()),
            true => Grant::read_only(server, identity, tools),
        };
        let policy = Policy::new(mode)
            .with_rule(Rule::new(Effect::Allow, "*", "*"))
            .with_grant(grant);
        let is_changed = now.fingerprint != granted.fingerprint;
        let wanted = match mode {
            Mode::Plan => Verdict::Deny(DenyReason::Plan),
            _ if is_changed => Verdict::Ask(AskReason::Changed),
            _ => Verdict::Allow,
        };
        prop_assert_eq!(policy.judge(&now), wanted);
        // What is granted as it is now has not changed, nor has the tool of another server.
        let also = policy.clone().with_grant(Grant::tool(now.definition()));
        prop_assert!(!also.is_changed(&now));
        prop_assert!(!policy.is_changed(&now.with_server_identity("elsewhere")));
    }

    #[test]
    fn a_grant_never_covers_another_caller(grant in grants(), tool in tools()) {
        let other = Caller::new("carol");
        prop_assert!(!grant.covers(&other, &tool, None));
    }

    #[test]
    fn deny_wins(policy in policies(), tool in tools()) {
        let rule = Rule::new(
            Effect::Deny, Pattern::exact(&tool.server), Pattern::exact(&tool.tool));
        let policy = policy.with_rule(rule).with_grant(Grant::tool(tool.definition()));
        prop_assert_eq!(policy.judge(&tool), Verdict::Deny(DenyReason::Rule));
    }

    #[test]
    fn destructive_wins_over_the_read_only_hint(policy in policies(), mut tool in tools()) {
        tool.annotations.destructive_hint = Some(true);
        prop_assert!(!tool.is_read_only());
        let hinted = { let mut tool = tool.clone(); tool.annotations.read_only_hint = Some(true); tool };
        tool.annotations.read_only_hint = None;
        prop_assert_eq!(policy.judge(&hinted), policy.judge(&tool));
    }

    #[test]
    fn hints_count_only_for_trusted_servers(policy in policies(), tool in tools()) {
        let untrusted = tool.with_trust(false);
        let plain = untrusted.clone().with_annotations(ToolAnnotations::default());
        prop_assert_eq!(policy.judge(&untrusted), policy.judge(&plain));
    }

    #[test]
    fn built_in_tools_never_need_approval_and_the_tool_behind_them_is_judged(
        policy in policies(), tool in tools(),
    ) {
        let [search, call] = stand_ins();
        for built_in in [search, call, reader()] {
            prop_assert_eq!(&built_in.server, BUILT_IN);
            prop_assert_eq!(policy.judge(&built_in), Verdict::Allow);
        }
        let named = tool.clone().with_name("whatever");
        prop_assert_eq!(policy.judge(&named), policy.judge(&tool));
    }

    #[test]
    fn nothing_runs_in_plan_mode(tool in tools(), grant in grants(), rule in rules()) {
        let policy = Policy::new(Mode::Plan).with_rule(rule).with_grant(grant);
        prop_assert!(matches!(policy.judge(&tool), Verdict::Deny(_)));
    }

    #[test]
    fn an_unattended_policy_asks_nothing(policy in policies(), tool in tools()) {
        let verdict = policy.unattended().judge(&tool);
        prop_assert!(!matches!(verdict, Verdict::Ask(_)), "{:?}", verdict);
    }
}
