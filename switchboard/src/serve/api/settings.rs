//! A user's settings, and the models they choose among.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use crate::exit::Failure;
use crate::home;
use crate::models::{Choice, Endpoint, PriceTable, Wanted, described, ollama_models, overview};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::servers::PlainSecrets;
use crate::setup::choice;
use crate::setup::settings::{check, hidden, is_of_host, keys_stay, setting};
use crate::store::{Change, UserId};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/settings", show)
        .put("/api/settings", change)
        .get("/api/models", models)
}

async fn shown(app: &App, user: &UserId) -> Result<Json<Value>, ApiError> {
    let settings = app.server_pool.settings(user).await?;
    let shown = settings.iter();
    let shown = shown.map(|(key, value)| (key.clone(), hidden(key, value)));
    Ok(Json(Value::Object(shown.collect())))
}

async fn show(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    shown(&app, &user).await
}

/// Sets the named settings atomically; `null` removes one.
async fn change(
    State(app): State<App>,
    User(user): User,
    Body(said): Body<Map<String, Value>>,
) -> Result<Json<Value>, ApiError> {
    let before = app.server_pool.settings(&user).await?;
    let mut wanted = before.clone();
    let mut changes = Vec::new();
    for (key, value) in said {
        if is_of_host(&key) && !value.is_null() && app.server_pool.host(&user) == Host::Forbidden {
            let message = format!("setting {key:?} is about this machine's keys");
            return Err(ApiError::not_permitted(message, user.as_str()));
        }
        let change = match value {
            Value::Null => {
                check(&key).map_err(|failure| ApiError::unfit_for(failure).at(&key))?;
                wanted.remove(&key);
                Change::DeleteSetting(user.clone(), key)
            }
            // What is sent back as it was shown stays.
            value if wanted.get(&key).map(|kept| hidden(&key, kept)) == Some(value.clone()) => {
                continue;
            }
            value => {
                let setting = setting(&user, &key, value, PlainSecrets::Refused);
                let setting = setting.map_err(|failure| ApiError::unfit_for(failure).at(&key))?;
                wanted.insert(key, setting.value.clone());
                Change::PutSetting(setting)
            }
        };
        changes.push(change);
    }
    keys_stay(&before, &wanted).map_err(ApiError::unfit_for)?;
    // What is stored can be used, or is not stored.
    if wanted.contains_key("model") {
        let choice = choice(&Wanted::default(), &wanted).await;
        choice.map_err(|failure| ApiError::unfit_for(failure).at("model"))?;
    }
    PriceTable::new(&wanted).map_err(|error| ApiError::unfit(error.to_string()))?;
    app.store.commit(changes).await?;
    shown(&app, &user).await
}

/// The current model, the available providers, and the known models.
async fn models(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let settings = app.server_pool.settings(&user).await?;
    let current = choice(&Wanted::default(), &settings).await;
    let table = PriceTable::new(&settings).map_err(Failure::from)?;
    let host = home::environment("OLLAMA_HOST");
    let ollama = ollama_models(host.as_deref()).await;
    let mut known = Vec::new();
    let mut providers = Vec::new();
    for standing in overview(&settings, home::environment, current.as_ref().ok()) {
        let provider = standing.provider;
        let usable = standing.stored || standing.found.is_some() || provider.is_demo();
        if let (true, Some(model)) = (usable, &standing.model) {
            known.push(match provider.is_demo() {
                true => "demo".to_owned(),
                false => format!("{}/{model}", provider.name),
            });
        }
        providers.push(json!({
            "name": provider.name,
            "model": standing.model,
            "keyFound": standing.stored || standing.found.is_some(),
            "keyNames": provider.keys,
            "local": provider.local,
            "demo": provider.is_demo(),
            "used": standing.used,
        }));
    }
    let endpoints = Endpoint::stored(&settings).into_iter();
    let endpoints: Vec<Value> = endpoints.map(|it| it.described()).collect();
    let used = current.as_ref().ok().filter(|it| it.endpoint.is_some());
    known.extend(used.map(Choice::name));
    known.extend(ollama.iter().map(|model| format!("ollama/{model}")));
    let (current, problem) = match current {
        Ok(choice) => (Some(described(&choice, &table)), None),
        Err(failure) => (None, Some(failure.chain())),
    };
    Ok(Json(json!({
        "current": current,
        "problem": problem,
        "providers": providers,
        "endpoints": endpoints,
        "models": known,
    })))
}
