//! A user's settings.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::models::{Wanted, forget_model_key, key_prefix};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::servers::{PlainSecrets, roots};
use crate::setup::settings::{
    check, forgotten_keys, hidden, is_of_host, is_of_model, keys_stay, setting,
};
use crate::store::{Change, UserId};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/settings", show)
        .put("/api/settings", change)
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
    let named: Vec<String> = said.keys().cloned().collect();
    for (key, value) in said {
        if is_of_host(&key) && !value.is_null() && app.server_pool.host(&user) == Host::Forbidden {
            let message = format!("setting {key:?} is about this machine");
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
    // What is stored can be used, or is not stored. A model that could not be used before does not
    // prevent other changes.
    if wanted.contains_key("model") && named.iter().any(|key| is_of_model(key)) {
        let (model, pool) = (Wanted::default(), &app.server_pool);
        let choice = pool.choice(&user, &model, &wanted).await;
        let chosen = named.iter().any(|key| key == "model");
        if let Err(failure) = choice
            && (chosen || pool.choice(&user, &model, &before).await.is_ok())
        {
            return Err(ApiError::unfit_for(failure).at("model"));
        }
    }
    app.store.commit(changes).await?;
    if before.get(roots::SETTING) != wanted.get(roots::SETTING) {
        app.server_pool.roots_changed(&user).await;
    }
    for kept in forgotten_keys(&before, &wanted) {
        let forgotten = forget_model_key(&kept, &key_prefix(&user)).await;
        forgotten.map_err(Failure::from)?;
    }
    shown(&app, &user).await
}
