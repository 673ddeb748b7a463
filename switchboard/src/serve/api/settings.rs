//! A user's settings.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::models::{PriceTable, Wanted, forget_model_key};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::servers::{PlainSecrets, roots};
use crate::setup::settings::{check, hidden, is_of_host, keys_stay, setting};
use crate::store::{Change, StoredValue, UserId};

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
    // What is stored can be used, or is not stored.
    if wanted.contains_key("model") {
        let model = Wanted::default();
        let choice = app.server_pool.choice(&user, &model, &wanted).await;
        choice.map_err(|failure| ApiError::unfit_for(failure).at("model"))?;
    }
    PriceTable::new(&wanted).map_err(|error| ApiError::unfit(error.to_string()))?;
    app.store.commit(changes).await?;
    if before.get(roots::SETTING) != wanted.get(roots::SETTING) {
        app.server_pool.roots_changed(&user).await;
    }
    for kept in gone(&before, &wanted) {
        let forgotten = forget_model_key(&kept, &super::models::key_prefix(&user)).await;
        forgotten.map_err(Failure::from)?;
    }
    shown(&app, &user).await
}

/// The keys that no setting refers to any more.
fn gone(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> Vec<StoredValue> {
    let keys = before.iter().filter(|(name, _)| name.ends_with(".key"));
    let keys = keys.filter(|(_, kept)| !after.values().any(|value| value == *kept));
    keys.filter_map(|(_, kept)| kept.as_str()?.parse().ok())
        .collect()
}
