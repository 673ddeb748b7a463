//! Logins to servers whose page sends the browser back to this program, at the address that its users open.
//!
//! The browser that comes back must be the one in which the login was begun, and each login is finished
//! once. Where machines share the store, it may come back to another machine than the one that waits for
//! it: that one stores the answer for the other. The answer is worth nothing to anyone else, since the
//! code in it is good only together with what never leaves the machine that waits (PKCE).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_auth::{Authorizer, HostAuthorizer, LoginPrompt};
use mcp_transport::BoxError;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use url::{Url, form_urlencoded};

use crate::servers::{LOGIN_TIMEOUT, ShowLogin};
use crate::store::{
    Change, LoginAttempt, LoginChange, Setting, Store, StoreError, Timestamp, UserId,
};
use crate::token::hash;

/// Where login pages of servers send browsers back to.
pub(crate) const CALLBACK: &str = "/oauth/callback";
/// What the keys of answers that wait for another machine begin with.
const ANSWER: &str = "login.";
/// What marks the login of a server among the logins of users.
const OF_SERVER: &str = "server:";
/// How often to look for an answer that another machine has stored.
const LOOK: Duration = Duration::from_secs(1);

/// Whether a setting is an answer on its way.
pub(crate) fn is_answer(key: &str) -> bool {
    key.starts_with(ANSWER)
}

/// Logins that wait for their browser: a cheap clone.
#[derive(Clone, Debug)]
pub(crate) struct Callbacks {
    store: Arc<dyn Store>,
    redirect_uri: String,
    /// By the hash of their state.
    waiting: Arc<Mutex<HashMap<String, oneshot::Sender<String>>>>,
}

/// A login that waits, until it is dropped.
struct Waiting {
    callbacks: Callbacks,
    user: UserId,
    hash: String,
    answer: oneshot::Receiver<String>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.callbacks.waiting.lock().remove(&self.hash);
    }
}

impl Callbacks {
    /// Those of a page at this address.
    pub(crate) fn new(store: Arc<dyn Store>, page: &str) -> Self {
        Self {
            store,
            redirect_uri: format!("{page}{CALLBACK}"),
            waiting: Arc::default(),
        }
    }

    /// What has a user log in, in the browser with this secret.
    pub(crate) fn authorizer(
        &self,
        user: &UserId,
        browser: &str,
    ) -> impl FnOnce(ShowLogin) -> Arc<dyn Authorizer> + use<> {
        let (callbacks, user, browser) = (self.clone(), user.clone(), hash(browser));
        move |show| {
            let redirect_uri = callbacks.redirect_uri.clone();
            Arc::new(HostAuthorizer::new(redirect_uri, move |prompt| {
                let (callbacks, show) = (callbacks.clone(), Arc::clone(&show));
                let (user, browser) = (user.clone(), browser.clone());
                async move {
                    let waiting = callbacks.expect(user, browser, &prompt).await?;
                    show(&prompt)?;
                    waiting.answer().await
                }
            }))
        }
    }

    /// Begins to wait for a browser, before it is shown the page.
    async fn expect(
        &self,
        user: UserId,
        browser: String,
        prompt: &LoginPrompt,
    ) -> Result<Waiting, BoxError> {
        let url = Url::parse(&prompt.url)?;
        let state = url.query_pairs().find(|(name, _)| name == "state");
        let (_, state) = state.ok_or("the login page has no state")?;
        let (hash, now) = (hash(&state), Timestamp::now());
        let late = now.as_millis() + LOGIN_TIMEOUT.as_millis() as u64;
        let attempt = LoginAttempt::new(
            (hash.clone(), browser),
            (String::new(), String::new()),
            format!("{OF_SERVER}{user}"),
            Timestamp::from_millis(late),
        );
        let mut changes = vec![
            Change::Login(LoginChange::Prune(now)),
            Change::Login(LoginChange::PutAttempt(attempt)),
        ];
        // What no one has fetched, as its machine died.
        let old = self.store.settings(&user).await?.into_iter().filter(|row| {
            let at = row
                .value
                .get("at")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            is_answer(&row.key) && now.since(Timestamp::from_millis(at)) > LOGIN_TIMEOUT
        });
        changes.extend(old.map(|row| Change::DeleteSetting(user.clone(), row.key)));
        let (send, answer) = oneshot::channel();
        self.waiting.lock().insert(hash.clone(), send);
        let waiting = Waiting {
            callbacks: self.clone(),
            user,
            hash,
            answer,
        };
        self.store.commit(changes).await?;
        Ok(waiting)
    }

    /// A browser has come back, with this secret. Refused with a code of the page's problems.
    pub(crate) async fn came_back(
        &self,
        query: &str,
        browser: Option<String>,
    ) -> Result<Result<(), &'static str>, StoreError> {
        let mut states =
            form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
        let (Some((_, state)), None) = (states.next(), states.next()) else {
            return Ok(Err("state"));
        };
        let hashed = hash(&state);
        let Some(attempt) = self.store.login_attempt(&hashed).await? else {
            return Ok(Err("state"));
        };
        let Some(user) = attempt.return_to.strip_prefix(OF_SERVER) else {
            return Ok(Err("state"));
        };
        // It stays for the browser that began it.
        if browser.is_none_or(|browser| hash(&browser) != attempt.browser) {
            return Ok(Err("state"));
        }
        if attempt.expires_at <= Timestamp::now() {
            return Ok(Err("late"));
        }
        let mut changes = vec![Change::Login(LoginChange::TakeAttempt(hashed.clone()))];
        let here = self.waiting.lock().remove(&hashed);
        if here.is_none() {
            let answer = json!({ "query": query, "at": Timestamp::now().as_millis() });
            let answer = Setting::new(UserId::new(user), format!("{ANSWER}{hashed}"), answer);
            changes.push(Change::PutSetting(answer));
        }
        match self.store.commit(changes).await {
            Err(StoreError::Conflict { .. }) => return Ok(Err("state")),
            other => drop(other?),
        }
        match here {
            // Whoever waits for it may be gone.
            Some(here) => Ok(here.send(query.to_owned()).map_err(|_| "late")),
            None => Ok(Ok(())),
        }
    }
}

impl Waiting {
    /// The address that the browser came back to. Waits for as long as it is polled.
    async fn answer(mut self) -> Result<String, BoxError> {
        let query = loop {
            match timeout(LOOK, &mut self.answer).await {
                Ok(answer) => break answer?,
                Err(_) if self.callbacks.store.cluster().is_none() => {}
                // If the store fails now, it may work the next time.
                Err(_) => {
                    if let Ok(Some(query)) = self.stored().await {
                        break query;
                    }
                }
            }
        };
        Ok(format!("{}?{query}", self.callbacks.redirect_uri))
    }

    /// What another machine has stored.
    async fn stored(&self) -> Result<Option<String>, StoreError> {
        let store = &self.callbacks.store;
        let key = format!("{ANSWER}{}", self.hash);
        let rows = store.settings(&self.user).await?;
        let Some(row) = rows.into_iter().find(|row| row.key == key) else {
            return Ok(None);
        };
        let forget = Change::DeleteSetting(self.user.clone(), key);
        store.commit(vec![forget]).await?;
        Ok(row
            .value
            .get("query")
            .and_then(Value::as_str)
            .map(str::to_owned))
    }
}
