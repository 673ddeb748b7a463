//! Which model is chosen.

use std::collections::BTreeMap;

use provider_adapters::Wire;
use serde_json::{Value, json};
use switchboard::models::{Choice, ChoiceError, Found, Origin, Provider, Wanted, choose};
use switchboard::store::StoredValue;

struct Machine {
    settings: BTreeMap<String, Value>,
    environment: BTreeMap<String, String>,
    ollama: Vec<String>,
}

fn machine(settings: Value, environment: &[(&str, &str)], ollama: &[&str]) -> Machine {
    Machine {
        settings: serde_json::from_value(settings).unwrap(),
        environment: environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ollama: ollama.iter().map(|name| (*name).to_owned()).collect(),
    }
}

impl Machine {
    fn choose(&self, wanted: &Wanted) -> Result<Choice, ChoiceError> {
        let environment = |name: &str| self.environment.get(name).cloned();
        let found = Found {
            settings: &self.settings,
            environment: &environment,
            ollama: &self.ollama,
        };
        choose(wanted, &found)
    }

    fn flag(&self, model: &str) -> Result<Choice, ChoiceError> {
        self.choose(&Wanted::model(Some(model.to_owned())))
    }
}

#[track_caller]
fn check(choice: &Choice, name: &str, wire: Wire, origin: Origin) {
    assert_eq!(
        (choice.name().as_str(), choice.wire, choice.origin),
        (name, wire, origin)
    );
}

#[test]
fn with_nothing_at_all_there_is_the_demo_model() {
    let choice = machine(json!({}), &[], &[])
        .choose(&Wanted::default())
        .unwrap();
    check(&choice, "demo", Wire::OpenAiChat, Origin::Demo);
    assert!(choice.provider.is_demo());
}

#[test]
fn a_flag_wins_over_a_setting_and_a_setting_over_the_environment() {
    let keys = [
        ("OPENAI_API_KEY", "sk-1"),
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("GEMINI_API_KEY", "x"),
    ];
    let bare = machine(json!({}), &keys, &["qwen3:4b"]);
    let choice = bare.choose(&Wanted::default()).unwrap();
    check(
        &choice,
        "anthropic/claude-sonnet-5",
        Wire::Anthropic,
        Origin::Environment,
    );
    let set = machine(
        json!({"model": "gemini/gemini-3.8-flash"}),
        &keys,
        &["qwen3:4b"],
    );
    let choice = set.choose(&Wanted::default()).unwrap();
    check(
        &choice,
        "gemini/gemini-3.8-flash",
        Wire::Gemini,
        Origin::Setting,
    );
    let choice = set.flag("gpt-5").unwrap();
    check(&choice, "openai/gpt-5", Wire::OpenAiResponses, Origin::Flag);
    assert_eq!(
        choice.key,
        Some(StoredValue::Env("OPENAI_API_KEY".to_owned()))
    );
}

#[test]
fn a_local_ollama_is_used_before_the_demo_model() {
    let machine = machine(json!({}), &[], &["llama3.1:8b", "gemma2:9b"]);
    let choice = machine.choose(&Wanted::default()).unwrap();
    check(
        &choice,
        "ollama/llama3.1:8b",
        Wire::OpenAiChat,
        Origin::Ollama,
    );
    assert_eq!(choice.key, None);
    let choice = machine.flag("llama3.1").unwrap();
    check(&choice, "ollama/llama3.1", Wire::OpenAiChat, Origin::Flag);
}

#[test]
fn ollama_is_asked_where_its_host_variable_points() {
    let machine = machine(
        json!({}),
        &[("OLLAMA_HOST", "127.0.0.1:99")],
        &["llama3.1:8b"],
    );
    let url = Some("http://127.0.0.1:99/v1".to_owned());
    assert_eq!(machine.choose(&Wanted::default()).unwrap().base_url, url);
    assert_eq!(machine.flag("ollama/qwen3").unwrap().base_url, url);
    let settings = json!({"providers.ollama.base_url": "http://127.0.0.1:7/v1"});
    let moved = super::models::machine(settings, &[("OLLAMA_HOST", "127.0.0.1:99")], &[]);
    let url = Some("http://127.0.0.1:7/v1".to_owned());
    assert_eq!(moved.flag("ollama/qwen3").unwrap().base_url, url);
}

#[test]
fn a_model_without_tools_gets_them_in_its_prompt() {
    let ours = machine(json!({}), &[], &["gemma2:9b"]);
    let choice = ours.choose(&Wanted::default()).unwrap();
    check(&choice, "ollama/gemma2:9b", Wire::Prompt, Origin::Ollama);
    let settings = json!({"models.gemma2:9b.tools": true, "models.gemma2:9b.context": 9000});
    let choice = machine(settings, &[], &["gemma2:9b"])
        .choose(&Wanted::default())
        .unwrap();
    assert_eq!(
        (choice.wire, choice.capabilities.context),
        (Wire::OpenAiChat, Some(9000))
    );
}

#[test]
fn another_address_speaks_chat_completions_and_needs_no_key() {
    let mut wanted = Wanted::model(Some("my-model".to_owned()));
    wanted.base_url = Some("http://127.0.0.1:8000/v1".to_owned());
    let choice = machine(json!({}), &[], &[]).choose(&wanted).unwrap();
    let name = "127.0.0.1:8000/my-model";
    check(&choice, name, Wire::OpenAiChat, Origin::Flag);
    assert_eq!(choice.base_url, wanted.base_url);
    let environment = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")];
    let choice = machine(json!({}), &environment, &[])
        .choose(&Wanted::default())
        .unwrap();
    check(
        &choice,
        "openai/gpt-5-mini",
        Wire::OpenAiChat,
        Origin::Environment,
    );
}

#[test]
fn the_key_of_a_setting_wins_over_the_environment() {
    let settings = json!({"providers.openai.key": "keyring:openai"});
    let machine = machine(settings, &[("OPENAI_API_KEY", "sk-1")], &[]);
    let choice = machine.choose(&Wanted::default()).unwrap();
    assert_eq!(choice.key, Some(StoredValue::Keyring("openai".to_owned())));
}

#[test]
fn what_was_asked_for_by_name_is_never_replaced_silently() {
    let ours = machine(json!({}), &[("OPENAI_API_KEY", "sk-1")], &[]);
    let error = ours.flag("claude-opus-5").unwrap_err();
    assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    let error = ours.flag("unheard-of").unwrap_err();
    assert!(error.to_string().contains("provider/model"), "{error}");
    let error = ours.flag("lm-studio").unwrap_err();
    assert!(error.to_string().contains("lm-studio/model"), "{error}");
    let error = machine(json!({"model": 5}), &[], &[])
        .choose(&Wanted::default())
        .unwrap_err();
    assert!(error.to_string().contains("\"model\""), "{error}");
}

/// Every key there could be, by where it is, and the origin it belongs to.
fn keys() -> (Vec<(String, String)>, BTreeMap<String, &'static str>) {
    let owners = [
        ("anthropic", "https://api.anthropic.com"),
        ("openai", "https://api.openai.com"),
        ("gemini", "https://generativelanguage.googleapis.com"),
        ("openrouter", "https://openrouter.ai"),
        ("mistral", "https://api.mistral.ai"),
        ("deepseek", "https://api.deepseek.com"),
        ("xai", "https://api.x.ai"),
        ("groq", "https://api.groq.com"),
        ("together", "https://api.together.xyz"),
        ("qwen", "https://dashscope-intl.aliyuncs.com"),
        ("azure", "https://me.openai.azure.com"),
    ];
    let (mut environment, mut belongs) = (Vec::new(), BTreeMap::new());
    for (name, origin) in owners {
        let provider = Provider::named(name).unwrap();
        assert!(!provider.keys.is_empty());
        for key in provider.keys {
            environment.push(((*key).to_owned(), "secret".to_owned()));
            belongs.insert(format!("env:{key}"), origin);
        }
        belongs.insert(format!("keyring:{name}"), origin);
    }
    let all = Provider::all().iter().filter(|it| !it.keys.is_empty());
    assert_eq!(
        all.count(),
        owners.len(),
        "every provider with a key is tried"
    );
    (environment, belongs)
}

/// Addresses that look like others.
const ADDRESSES: [&str; 14] = [
    "https://api.openai.com/v1",
    "https://api.openai.com:443/other",
    "http://api.openai.com/v1",
    "https://api.openai.com.evil.example/v1",
    "https://evil.example/api.openai.com",
    "https://api.openai.com:8443/v1",
    "https://API.Anthropic.com",
    "https://api.anthropic.com\\@evil.example",
    "https://evil.example\\@api.anthropic.com",
    "https://me.openai.azure.com/openai/v1",
    "https://evil-openai.azure.com/openai/v1",
    "http://127.0.0.1:8000/v1",
    "http://localhost:11434/v1",
    "https://llm.example/v1",
];

#[test]
fn a_key_reaches_its_own_origin_only() {
    let (environment, belongs) = keys();
    let mut kept = 0;
    for stored in [false, true] {
        for provider in Provider::all() {
            for url in ADDRESSES {
                for way in ["flag", "setting", "endpoint", "environment"] {
                    let mut settings = BTreeMap::new();
                    if stored {
                        for other in Provider::all().iter().filter(|it| !it.keys.is_empty()) {
                            let name = other.name;
                            let key = Value::from(format!("keyring:{name}"));
                            settings.insert(format!("providers.{name}.key"), key);
                        }
                    }
                    let mut environment: BTreeMap<_, _> = environment.iter().cloned().collect();
                    let mut wanted = Wanted::model(Some(format!("{}/m", provider.name)));
                    match way {
                        "flag" => wanted.base_url = Some(url.to_owned()),
                        "setting" => {
                            let key = format!("providers.{}.base_url", provider.name);
                            settings.insert(key, Value::from(url));
                        }
                        "endpoint" => {
                            settings.insert("endpoints.mine.base_url".to_owned(), url.into());
                            wanted.model = Some("mine/m".to_owned());
                        }
                        _ => match provider.base_url {
                            Some(name) => drop(environment.insert(name.to_owned(), url.into())),
                            None => continue,
                        },
                    }
                    let machine = Machine {
                        settings,
                        environment,
                        ollama: Vec::new(),
                    };
                    let Ok(choice) = machine.choose(&wanted) else {
                        continue;
                    };
                    let Some(key) = &choice.key else { continue };
                    kept += 1;
                    let at = choice.base_url.as_deref().unwrap();
                    let at = url::Url::parse(at).unwrap().origin().ascii_serialization();
                    let own = belongs[&key.to_string()];
                    // What is set in the environment is set together.
                    let paired = way == "environment"
                        && provider
                            .keys
                            .iter()
                            .any(|it| key.to_string() == format!("env:{it}"));
                    assert!(
                        at == own || paired,
                        "{key} of {own} goes to {at} ({way} of {}, {url})",
                        provider.name
                    );
                }
            }
        }
    }
    assert!(kept > 100, "keys are found at all: {kept}");
}

#[test]
fn an_endpoint_is_known_by_its_name_and_has_a_key_of_its_own() {
    let settings = json!({
        "endpoints.mine.base_url": "https://llm.example/v1",
        "endpoints.mine.key": "env:MINE",
        "endpoints.theirs.base_url": "https://claude.example",
        "endpoints.theirs.wire": "anthropic",
    });
    let machine = machine(settings, &[("OPENAI_API_KEY", "sk-1")], &[]);
    let choice = machine.flag("mine/llama").unwrap();
    check(&choice, "mine/llama", Wire::OpenAiChat, Origin::Flag);
    assert_eq!(choice.key, Some(StoredValue::Env("MINE".to_owned())));
    let choice = machine.flag("theirs/claude").unwrap();
    check(&choice, "theirs/claude", Wire::Anthropic, Origin::Flag);
    assert_eq!(choice.key, None);
    let error = machine.flag("others/claude").unwrap_err();
    assert!(error.to_string().contains("endpoint"), "{error}");
    for odd in [
        "llm.example",
        "ftp://llm.example",
        "https://me:secret@llm.example/v1",
    ] {
        let mut wanted = Wanted::model(Some("llama".to_owned()));
        wanted.base_url = Some(odd.to_owned());
        let error = machine.choose(&wanted).unwrap_err().to_string();
        assert!(
            error.contains("base URL") && !error.contains("secret"),
            "{error}"
        );
    }
}

#[test]
fn a_wire_without_a_key_of_its_own_is_refused_instead_of_replaced() {
    let machine = machine(
        json!({"endpoints.cloud.base_url": "https://cloud.example", "endpoints.cloud.wire": "vertex"}),
        &[("GEMINI_API_KEY", "x")],
        &[],
    );
    for wire in [Wire::Vertex, Wire::Bedrock] {
        let mut wanted = Wanted::model(Some("gemini".to_owned()));
        wanted.wire = Some(wire);
        let refused = machine.choose(&wanted).unwrap_err();
        assert_eq!(refused, ChoiceError::Wire(wire));
        assert!(
            refused.to_string().contains("is not supported"),
            "{refused}"
        );
    }
    let refused = machine.flag("cloud/some-model").unwrap_err();
    assert_eq!(refused, ChoiceError::Wire(Wire::Vertex));
}

#[test]
fn only_at_its_own_address_is_a_model_at_its_provider() {
    let keys = [("ANTHROPIC_API_KEY", "sk-1")];
    let own = machine(json!({}), &keys, &[]).flag("anthropic").unwrap();
    assert!(own.is_at_its_provider());
    let moved = [keys[0], ("ANTHROPIC_BASE_URL", "https://proxy.example")];
    let moved = machine(json!({}), &moved, &[]).flag("anthropic").unwrap();
    assert!(!moved.is_at_its_provider());
    let demo = machine(json!({}), &[], &[])
        .choose(&Wanted::default())
        .unwrap();
    assert!(!demo.is_at_its_provider());
}
