//! Settings, models, usage and approvals.

use serde_json::json;

use super::desk::Desk;
use crate::servers::bench::Bench;

#[tokio::test]
async fn settings_are_checked_stored_hidden_and_forgotten() {
    let desk = Desk::open();
    let good = json!({
        "approve": "auto-read", "max_rounds": 7, "max_cost": 0.5, "model": "demo",
        "providers.openai.key": "env:MY_KEY", "prices.mine": {"input": 1, "output": 2},
    });
    desk.say("PUT settings", good).await.is(200);
    for bad in [
        json!({"approve": "never"}),
        json!({"max_rounds": -1}),
        json!({"max_rounds": "many"}),
        json!({"max_cost": -2}),
        json!({"model": "no-such-model"}),
        json!({"model": 5}),
        json!({"model": " "}),
        json!({"colour": "red"}),
        json!({"colour": null}),
        json!({"prices.mine": "cheap"}),
        json!({"prices.mine": {"input": -1, "output": 2}}),
        json!({"prices.mine": {"input": 1, "output": 2, "cached": 1}}),
        json!({"prices. ": {"input": 1, "output": 2}}),
        json!({"models.mine.context": 0}),
        json!({"models. .tools": true}),
        json!({"providers.no-such.key": "env:MY_KEY"}),
        json!({"endpoints.mine.wire": "vertex"}),
        json!({"providers.openai.key": "hush"}),
        json!({"providers.openai.key": "plain:hush"}),
        json!({"max_rounds": 9, "approve": "never"}),
        json!(["model"]),
    ] {
        let answer = desk.say("PUT settings", bad).await;
        assert!((400..500).contains(&answer.status), "{}", answer.text);
        assert!(!answer.text.contains("hush"));
    }
    desk.say(
        "PUT settings",
        json!({"max_cost": null, "prices.mine": null}),
    )
    .await
    .is(200);
    desk.ask("GET settings").await.is(200);
    insta::assert_json_snapshot!("settings", desk.reported());
    desk.close();
}

#[tokio::test]
async fn no_change_makes_the_model_unusable_and_one_that_is_unusable_prevents_no_other_change() {
    let desk = Desk::open();
    let works = json!({"providers.openai.key": "env:MINE", "model": "openai/gpt-5"});
    desk.say("PUT settings", works).await.is(200);
    let keyless = json!({"providers.openai.key": null});
    let refused = desk.say("PUT settings", keyless).await.is(422);
    assert_eq!(
        refused.body["error"]["details"]["field"], "model",
        "{}",
        refused.text
    );
    let ran = desk
        .bench
        .run_beside(&["config", "set", "providers.openai.key"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    let both = json!({"providers.openai.key": null, "model": null});
    desk.say("PUT settings", both).await.is(200);
    desk.close();

    // Its key is in a variable that is not there any more.
    let bench = Bench::new().on_tested_store();
    let set = ["config", "set", "model", "openai/gpt-5"];
    let mut command = bench.command(&set);
    let output = command.env("OPENAI_API_KEY", "hush").output().unwrap();
    assert!(output.status.success());
    let desk = Desk::with(bench, &[], &[]);
    let other =
        json!({"endpoints.mine.base_url": "https://llm.example/v1", "model": "openai/gpt-5"});
    desk.say("PUT settings", other).await.is(200);
    let other = [
        "config",
        "set",
        "endpoints.mine.base_url",
        "https://llm.example/v2",
    ];
    assert_eq!(desk.bench.run_beside(&other).exit, 0);
    let chosen = json!({"model": "openai/gpt-5-mini"});
    desk.say("PUT settings", chosen).await.is(422);
    desk.close();
}

#[tokio::test]
async fn a_key_and_the_address_it_was_given_for_change_together() {
    let desk = Desk::with(
        Bench::new().on_tested_store(),
        &[],
        &[("OPENAI_API_KEY", "hush")],
    );
    for (settings, status) in [
        (
            json!({"providers.openai.base_url": "https://evil.example/v1"}),
            422,
        ),
        (
            json!({"providers.openai.base_url": "https://api.openai.com/v1"}),
            200,
        ),
        (
            json!({"endpoints.openai.base_url": "https://llm.example/v1"}),
            422,
        ),
        (json!({"endpoints.mine.base_url": "llm.example"}), 422),
        (json!({"endpoints.mine.wire": "morse"}), 422),
        (
            json!({"endpoints.mine.base_url": "https://llm.example/v1", "endpoints.mine.key": "env:MINE"}),
            200,
        ),
        (
            json!({"endpoints.mine.base_url": "https://llm.example/v2"}),
            200,
        ),
        (
            json!({"endpoints.mine.base_url": "https://evil.example/v1"}),
            422,
        ),
        (json!({"endpoints.mine.base_url": null}), 422),
        (
            json!({"endpoints.mine.base_url": "https://other.example/v1", "endpoints.mine.key": null}),
            200,
        ),
        (json!({"model": "mine/llama"}), 200),
    ] {
        let reported = desk.say("PUT settings", settings.clone()).await;
        assert_eq!(reported.status, status, "{settings}: {}", reported.text);
    }
    let models = desk.ask("GET models").await.is(200).body;
    assert_eq!(models["current"]["baseUrl"], "https://other.example/v1");
    assert_eq!(models["current"]["key"], serde_json::Value::Null);
    let endpoint = json!({
        "name": "mine", "baseUrl": "https://other.example/v1", "wire": null, "key": null,
    });
    assert_eq!(models["endpoints"], json!([endpoint]));
    desk.close();
}

#[tokio::test]
async fn models_tell_who_answers_and_where_keys_were_found() {
    let desk = Desk::with(
        Bench::new().on_tested_store(),
        &[],
        &[("MISTRAL_API_KEY", "hush")],
    );
    let models = desk.ask("GET models").await.is(200);
    assert!(!models.text.contains("hush"));
    assert_eq!(models.body["current"]["provider"], "mistral");
    assert_eq!(models.body["current"]["key"], "env:MISTRAL_API_KEY");
    let providers = models.body["providers"].as_array().unwrap().iter();
    let found: Vec<_> = providers.filter(|it| it["keyFound"] == true).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["name"], "mistral");
    let known = models.body["models"].as_array().unwrap();
    assert!(
        known.contains(&json!("demo")) && known.contains(&json!("mistral/mistral-medium-latest"))
    );
    desk.close();
    let desk = Desk::open();
    let models = desk.ask("GET models").await.is(200).body;
    assert_eq!(
        (&models["current"]["name"], &models["current"]["why"]),
        (&json!("demo"), &json!("demo"))
    );
    desk.close();
}

#[tokio::test]
async fn usage_and_approvals_are_empty_at_first_and_strangers_are_not_found() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = desk.ask(&format!("GET mcp-servers/{id}/tools")).await.body;
    let tools = tools["items"].as_array().unwrap();
    let add = tools.iter().find(|tool| tool["name"] == "add").unwrap();
    desk.say(
        &format!("PATCH mcp-servers/{id}/tools/add"),
        json!({"approval": "auto", "hash": add["hash"]}),
    )
    .await
    .is(200);
    desk.forget();
    desk.ask("GET usage").await.is(200);
    desk.ask("GET usage?since=2026-01-31T12:00:00Z")
        .await
        .is(200);
    desk.ask("GET usage?since=yesterday").await.is(400);
    desk.ask("GET usage?conversation=none").await.is(404);
    let rules = desk.ask("GET approvals").await.body;
    let rule = rules["items"][0]["id"].as_str().unwrap();
    desk.ask(&format!("DELETE approvals/{rule}")).await.is(204);
    desk.ask(&format!("DELETE approvals/{rule}")).await.is(404);
    let tools = desk.ask(&format!("GET mcp-servers/{id}/tools")).await.body;
    assert_eq!(tools["items"][0]["approval"], "ask");
    let mut reported = desk.reported();
    reported.truncate(7);
    insta::assert_json_snapshot!("usage", reported);
    desk.close();
}
