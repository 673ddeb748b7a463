//! A user's settings.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};

use crate::models::Wanted;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::servers::{PlainSecrets, roots};
use crate::setup::settings::{
    check, forget_keys, hidden, is_of_host, keys_stay, model_stays, setting,
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
    for (key, value) in said {
        if is_of_host(&key) && !value.is_null() && app.server_pool.host(&user) == Host::Forbidden {
            let message = format!("setting {key:?} is about this machine");
            return Err(ApiError::not_permitted(message, user.as_str()));
        }
        let change = match value {
            Value::Null => {
                // What is stored can be removed, whatever its name.
                if wanted.remove(&key).is_none() {
                    check(&key).map_err(|failure| ApiError::unfit_for(failure).at(&key))?;
                }
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
    let (pool, user_id) = (&app.server_pool, &user);
    let chosen =
        move |settings| async move { pool.choice(user_id, &Wanted::default(), &settings).await };
    let stays = model_stays(&before, &wanted, chosen).await;
    stays.map_err(|failure| ApiError::unfit_for(failure).at("model"))?;
    app.store.commit(changes).await?;
    if before.get(roots::SETTING) != wanted.get(roots::SETTING) {
        app.server_pool.roots_changed(&user).await;
    }
    forget_keys(&user, &before, &wanted).await?;
    shown(&app, &user).await
}
