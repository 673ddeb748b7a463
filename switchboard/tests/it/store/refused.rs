//! Databases that cannot be used, as the program reports them: what is wrong, what to do, and exit 1.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use switchboard::store::{PostgresLimits, PostgresStore, Setting, Store as _, StoreError, UserId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_postgres::NoTls;

use super::meddler::{Passed, error, meddle};
use super::postgres::Server;
use crate::cli::Desk;

/// What a verb reports that opens the store.
#[track_caller]
fn refused(verb: &[&str], database: &str) -> Value {
    let desk = Desk::new();
    let output = desk.command(&[verb, &["--json", "--database", database]].concat());
    let output = { output }.output().unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{reported}");
    assert!(!reported.contains("hush"), "{reported}");
    let lines = reported
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut errors = lines.filter(|line: &Value| line["error"].is_object());
    errors.next().unwrap_or_else(|| panic!("{reported}"))["error"].clone()
}

#[track_caller]
fn says(error: &Value, texts: &[&str]) {
    for text in texts {
        assert!(error.to_string().contains(text), "{text}: {error}");
    }
}

async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
}

const LIST: &[&str] = &["session", "list"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_used_is_exit_1_with_the_reason() {
    let Some(server) = Server::find().await else {
        return;
    };
    let error = refused(LIST, "postgres://me:hush@127.0.0.1:9/none");
    says(
        &error,
        &["postgres://me@127.0.0.1:9/none cannot be opened", "refused"],
    );

    let url = server.database().await;
    execute(&url, "CREATE TABLE users (id INT)").await;
    says(&refused(LIST, &url), &["a database of another program"]);

    let url = server.database().await;
    refused_never(&url).await;
    execute(&url, "UPDATE switchboard_version SET version = 999").await;
    says(&refused(LIST, &url), &["newer version", "999"]);
    execute(&url, "DROP TABLE switchboard_version CASCADE").await;

    let url = server.database().await;
    refused_never(&url).await;
    let name = url.rsplit('/').next().unwrap();
    let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    execute(&url, &sql).await;
    let error = refused(&["serve", "--port", "0"], &url);
    says(
        &error,
        &["takes no changes", "target_session_attrs=read-write"],
    );
}

/// Opens a database that is good.
async fn refused_never(url: &str) {
    let store = PostgresStore::open(url, PostgresLimits::default()).await;
    store.unwrap().close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_too_old_is_named_with_its_version() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let name = url.rsplit('/').next().unwrap();
    // The one number of this size that it answers is its version.
    let port = meddle(&url, |kind, body| {
        if *kind == b'D'
            && let Some(number) = body.strip_prefix(&[0, 1, 0, 0, 0, 8])
            && (130_000..400_000).contains(&i64::from_be_bytes(number.try_into().unwrap()))
        {
            body.splice(6.., 120_022_i64.to_be_bytes());
        }
        Passed::On
    });
    let url = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        port.await
    );
    says(
        &refused(LIST, &url),
        &["PostgreSQL 13 or newer is needed, and this is version 12"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_is_called_by_its_name_and_nothing_is_changed() {
    let Some(server) = Server::find().await else {
        return;
    };
    let direct = server.database().await;
    let name = direct.rsplit('/').next().unwrap();
    let full = meddle(&direct, |kind, body| {
        // What it answers to an INSERT.
        if *kind == b'C' && body.starts_with(b"INSERT 0 1") {
            (*kind, *body) = error("53100", "could not extend file: No space left on device");
            return Passed::Last;
        }
        Passed::On
    });
    refused_never(&direct).await;
    let url = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        full.await
    );
    let store = PostgresStore::open(&url, PostgresLimits::default())
        .await
        .unwrap();
    let setting = Setting::new(UserId::local(), "model", "demo");
    let put = switchboard::store::Change::PutSetting(setting);
    let error = store.commit(vec![put]).await.unwrap_err();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert_eq!(store.settings(&UserId::local()).await.unwrap(), []);
}

/// As Debian's PostgreSQL comes: with TLS, by a certificate that no one has signed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_not_trusted_is_refused_with_what_to_do() {
    let certificate = include_bytes!("../serve/tls/one.pem");
    let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../serve/tls/one.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut wish = [0; 8];
            client.read_exact(&mut wish).await.unwrap();
            client.write_all(b"S").await.unwrap();
            let _ = acceptor.accept(client).await;
        }
    });
    let error = refused(LIST, &format!("postgres://me:hush@localhost:{port}/team"));
    says(&error, &["certificate", "SSL_CERT_FILE", "sslmode=disable"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_into_a_database_with_something_in_it_changes_nothing() {
    let Some(server) = Server::find().await else {
        return;
    };
    let (full, desk) = (server.database().await, Desk::new());
    let open = || PostgresStore::open(&full, PostgresLimits::default());
    let store = open().await.unwrap();
    let put = |desk: &str| {
        let setting = Setting::new(UserId::local(), "model", desk);
        switchboard::store::Change::PutSetting(setting)
    };
    store.commit(vec![put("theirs")]).await.unwrap();
    store.close().await.unwrap();
    let set = desk
        .command(&["config", "set", "model", "demo"])
        .output()
        .unwrap();
    assert!(set.status.success());
    let file = desk.home().join("switchboard.db").display().to_string();
    let copy = desk
        .command(&["store", "copy", &file, &full, "--json"])
        .output()
        .unwrap();
    assert_eq!(copy.status.code(), Some(1));
    let said: Value = serde_json::from_slice(&copy.stderr).unwrap();
    says(
        &said,
        &[
            "is not empty, and was left as it is",
            "a database without tables",
        ],
    );
    let settings = open()
        .await
        .unwrap()
        .settings(&UserId::local())
        .await
        .unwrap();
    assert_eq!(settings.len(), 1);
    assert_eq!(settings[0].value, "theirs");
}
