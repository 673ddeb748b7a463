//! Models: the one that is used, those there are to choose from, and choosing one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use provider_adapters::{ErrorKind, ModelError, Secret, Wire};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{
    Choice, Endpoint, PriceTable, Provider, Wanted, described, find_key, keep_model_key,
    key_prefix, list_models, ollama_models, overview,
};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::setup::settings::forget_keys;
use crate::setup::{adopt, choice};
use crate::store::{Change, Setting, StoredValue, UserId};

/// The longest key.
const KEY: usize = 8192;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/models", show)
        .post("/api/models/list", list)
        .post("/api/models/use", choose)
}

/// The current model, the available providers, and the known models.
async fn show(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
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
            "keyStored": standing.stored,
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
        "keysAllowed": app.server_pool.host(&user) == Host::Allowed,
    })))
}

/// A place where models are, as the user gives it: a provider or an address, and perhaps a key. A
/// key is written nowhere but in the keyring or a private file, and is never sent back.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    wire: Option<Wire>,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

impl Given {
    /// The key that was typed.
    fn typed(&self, app: &App, user: &UserId) -> Result<Option<Secret>, ApiError> {
        let Some(key) = self.key.as_deref().map(str::trim) else {
            return Ok(None);
        };
        if key.is_empty() {
            return Ok(None);
        }
        if app.server_pool.host(user) == Host::Forbidden {
            let message = "keys are kept on this machine, where you may keep nothing";
            return Err(ApiError::not_permitted(message, user.as_str()));
        }
        if key.len() > KEY || !key.chars().all(|sign| sign.is_ascii_graphic()) {
            let message = "this is no key: a key is one word of letters, digits and signs";
            return Err(ApiError::unfit(message).at("key"));
        }
        Ok(Some(Secret::new(key)))
    }

    /// What it means as a choice of this model. A key that was typed is kept in no setting yet.
    async fn choice(&self, app: &App, user: &UserId, model: &str) -> Result<Choice, ApiError> {
        let settings = app.server_pool.settings(user).await?;
        let name = match (&self.provider, &self.base_url) {
            (Some(provider), _) if Provider::named(provider).is_none() => {
                let message = format!("there is no provider {provider:?}");
                return Err(ApiError::unfit(message).at("provider"));
            }
            (Some(provider), _) if provider == "demo" => "demo".to_owned(),
            (Some(provider), _) => format!("{provider}/{model}"),
            (None, Some(_)) => model.to_owned(),
            (None, None) => {
                let message = "name a provider, or give the address of one";
                return Err(ApiError::unfit(message).at("provider"));
            }
        };
        let mut wanted = Wanted::model(Some(name));
        wanted.base_url.clone_from(&self.base_url);
        wanted.wire = self.wire;
        if self
            .key
            .as_deref()
            .is_some_and(|key| !key.trim().is_empty())
        {
            // Wherever it is kept, there is one.
            wanted.key = Some(StoredValue::Env("KEY".to_owned()));
        }
        let chosen = app.server_pool.choice(user, &wanted, &settings).await;
        let field = match self.base_url.is_some() {
            true => "baseUrl",
            false => "key",
        };
        let chosen = chosen.map_err(|failure| ApiError::unfit_for(failure).at(field))?;
        let moved = self.base_url.is_some() && self.provider.is_some();
        if moved && chosen.endpoint.is_some() {
            let message = "this is not an address of the provider, which alone gets its key";
            let error = ApiError::unfit(message).at("baseUrl");
            return Err(error.with_hint("Choose the address without a provider."));
        }
        Ok(chosen)
    }
}

/// Asks a provider for its models: so the address and the key are tried before they are stored.
async fn list(
    State(app): State<App>,
    User(user): User,
    Body(given): Body<Given>,
) -> Result<Json<Value>, ApiError> {
    let typed = given.typed(&app, &user)?;
    // Any name does: nothing is asked of the model itself.
    let chosen = given.choice(&app, &user, "any").await?;
    let key = match (typed, &chosen.key) {
        (Some(key), _) => Some(key),
        (None, Some(reference)) => {
            let found = find_key(reference, &home::environment).await;
            Some(found.map_err(|error| ApiError::unfit_for(error.into()).at("key"))?)
        }
        (None, None) => None,
    };
    if chosen.provider.is_demo() && chosen.base_url.is_none() {
        return Ok(Json(
            json!({ "items": [{ "id": "demo", "title": null }], "listed": true }),
        ));
    }
    match list_models(&chosen, None, key).await {
        Ok(models) => {
            let items = models.iter();
            let items = items.map(|model| json!({ "id": model.id, "title": model.title }));
            Ok(Json(
                json!({ "items": items.collect::<Vec<_>>(), "listed": true }),
            ))
        }
        // It answers, and has no list: its user names the model.
        Err(error) if has_no_list(&error) => Ok(Json(json!({ "items": [], "listed": false }))),
        Err(error) => Err(refusal(&chosen, error)),
    }
}

fn has_no_list(error: &ModelError) -> bool {
    match error {
        ModelError::Provider(error) => {
            matches!(error.status, Some(404 | 405 | 501)) || error.kind == ErrorKind::Malformed
        }
        ModelError::Setup(_) => true,
        _ => false,
    }
}

/// Why a place cannot be asked for its models.
fn refusal(chosen: &Choice, error: ModelError) -> ApiError {
    let name = chosen.endpoint.as_deref().unwrap_or(chosen.provider.name);
    let (code, hint, field) = match &error {
        ModelError::Provider(it) if it.kind == ErrorKind::Credentials => (
            "wrong_key",
            "Check the key, and that it is of this provider.",
            Some("key"),
        ),
        ModelError::Provider(_) => ("refused", "Try again, or choose another provider.", None),
        _ => (
            "unreachable",
            "Check the address and the network.",
            Some("baseUrl"),
        ),
    };
    let message = format!("{name} cannot be asked for its models");
    let failure = Failure::new(Exit::Model, message).caused_by(error);
    let refused = ApiError::new(StatusCode::BAD_GATEWAY, code, failure.chain()).with_hint(hint);
    match field {
        Some(field) => refused.at(field),
        None => refused,
    }
}

/// Makes a model the one that is used, with its address and its key.
async fn choose(
    State(app): State<App>,
    User(user): User,
    Body(given): Body<Given>,
) -> Result<Json<Value>, ApiError> {
    let model = given.model.as_deref().map(str::trim).unwrap_or_default();
    if model.is_empty() && given.provider.as_deref() != Some("demo") {
        return Err(ApiError::unfit("name a model").at("model"));
    }
    let typed = given.typed(&app, &user)?;
    let chosen = given.choice(&app, &user, model).await?;
    let before = app.server_pool.settings(&user).await?;
    let promised = typed.as_ref().map(|_| StoredValue::Env("KEY".to_owned()));
    let base_url = given.base_url.as_deref();
    let after = adopt(&before, &chosen, base_url, promised.clone());
    // What is stored can be used, or is not stored.
    let usable = choice(&Wanted::default(), &after).await;
    usable.map_err(|failure| ApiError::unfit_for(failure).at("model"))?;
    let after = match typed {
        None => after,
        Some(key) => {
            let whose = chosen.endpoint.as_deref().unwrap_or(chosen.provider.name);
            let id = format!("{}{whose}", key_prefix(&user));
            let kept = keep_model_key(&id, key).await.map_err(Failure::from)?;
            adopt(&before, &chosen, base_url, Some(kept))
        }
    };
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| Change::DeleteSetting(user.clone(), key.clone()));
    let set = after.iter();
    let set = set.filter(|(key, value)| before.get(*key) != Some(*value));
    let set = set.map(|(key, value)| {
        Change::PutSetting(Setting::new(user.clone(), key.clone(), value.clone()))
    });
    app.store.commit(gone.chain(set).collect()).await?;
    forget_keys(&user, &before, &after).await?;
    show(State(app), User(user)).await
}
