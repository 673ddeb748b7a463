//! Nothing secret is ever printed: not by `Debug`, not by `Display`, not in a log.

use std::error::Error;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, OnceLock};

use mcp_auth::{Assertion, EnterpriseLogin, LoginPrompt, OAuth, RegisteredClient};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span;

use crate::realm::{Realm, visit};

/// Everything that was logged or printed.
static PRINTED: Mutex<String> = Mutex::new(String::new());

fn print(what: &dyn Debug) {
    let _ = writeln!(PRINTED.lock(), "{what:?} {what:#?}");
}

fn print_error(error: &(dyn Error + 'static)) {
    print(&error);
    let mut cause = Some(error);
    while let Some(error) = cause {
        let _ = writeln!(PRINTED.lock(), "{error} {error:#}");
        cause = error.source();
    }
}

struct Recorder;

impl Visit for Recorder {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = writeln!(PRINTED.lock(), "{field}={value:?}");
    }
}

impl tracing::Subscriber for Recorder {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut Self);
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut Self);
    }
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Self);
    }
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

impl log::Log for Recorder {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        let _ = writeln!(PRINTED.lock(), "{} {}", record.target(), record.args());
    }
    fn flush(&self) {}
}

fn record_all_logs() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        tracing::subscriber::set_global_default(Recorder).unwrap();
        log::set_logger(&Recorder).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
}

/// Everything that can go right or wrong, with secrets that all contain `salt`.
async fn everything(salt: &str) -> Vec<String> {
    let mut secrets = vec![
        salt.to_owned(),
        url::form_urlencoded::byte_serialize(salt.as_bytes()).collect(),
    ];
    let client = RegisteredClient::new("me").with_secret(format!("secret{salt}"));
    let login = |idp: &str| {
        EnterpriseLogin::new(
            format!("{idp}/token"),
            client.clone(),
            Assertion::fixed(format!("id{salt}")),
        )
    };
    let watched = mcp_auth::HostAuthorizer::new(crate::realm::REDIRECT, |prompt: LoginPrompt| {
        print(&prompt);
        visit(prompt)
    });
    for quotes in [false, true] {
        let realm = Realm::start().await;
        realm.books.lock().salt = salt.to_owned();
        let builders = [
            realm.oauth().authorizer(Arc::new(watched.clone())),
            realm.oauth().registered_client(client.clone()),
            realm.oauth().require_dpop(),
            OAuth::builder(realm.server())
                .registered_client(client.clone())
                .client_credentials(),
            OAuth::builder(realm.server())
                .registered_client(client.clone())
                .enterprise(login(&realm.authority.url)),
            OAuth::builder(realm.server())
                .workload_identity(Assertion::fixed(format!("wif{salt}"))),
        ];
        for (index, builder) in builders.into_iter().enumerate() {
            print(&builder);
            let oauth = builder.build().unwrap();
            let dpop = if index == 2 { "DPoP" } else { "Bearer" };
            realm.books.lock().token = json!({ "token_type": dpop });
            for _ in 0..2 {
                if let Err(error) = realm.call(&oauth, "read").await {
                    print_error(error.as_ref());
                }
                print(&oauth);
                realm.books.lock().quotes = quotes;
                realm.revoke();
            }
            realm.books.lock().quotes = false;
        }
        let books = realm.books.lock();
        secrets.extend(books.logins.iter().map(|login| login["state"].clone()));
        secrets.extend(
            books
                .asked
                .iter()
                .filter_map(|form| form.get("code_verifier").cloned()),
        );
        secrets.extend(
            books
                .authorizations
                .iter()
                .flatten()
                .map(|value| value.replace("Basic ", "")),
        );
    }
    secrets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn no_secret_is_ever_printed(salt in "[A-Za-z0-9+/~]{20}") {
        record_all_logs();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let secrets = runtime.block_on(everything(&salt));
        let printed = PRINTED.lock().clone();
        prop_assert!(printed.contains("renewing the token"), "refusals were printed");
        prop_assert!(printed.contains("asking for a login"), "logs were recorded");
        for secret in secrets {
            prop_assert!(!printed.contains(&secret), "{} was printed", secret);
        }
    }
}
