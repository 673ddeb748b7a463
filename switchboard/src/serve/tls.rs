//! TLS: a certificate from files, which are read again when they change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::exit::{Exit, Failure};
use crate::serve::reach::TlsFiles;

/// How often to look whether the files have changed.
const LOOK: Duration = Duration::from_secs(2);

/// A certificate, as its files are now: a cheap clone.
#[derive(Clone)]
pub(super) struct Certificate {
    shared: Arc<Shared>,
}

struct Shared {
    files: TlsFiles,
    current: Mutex<Current>,
}

struct Current {
    config: Arc<ServerConfig>,
    seen: Changed,
    /// What was there when the files could not be used.
    refused: Option<Changed>,
    looked: Instant,
}

impl Certificate {
    /// Reads the files.
    pub(super) fn open(files: TlsFiles) -> Result<Self, Failure> {
        let current = Current {
            seen: changed(&files),
            config: load(&files)?,
            refused: None,
            looked: Instant::now(),
        };
        let current = Mutex::new(current);
        Ok(Self {
            shared: Arc::new(Shared { files, current }),
        })
    }

    /// What accepts the next connection. Files that cannot be used, such as those that are just
    /// being replaced, leave the certificate as it is.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let mut current = self.shared.current.lock();
        if current.looked.elapsed() >= LOOK {
            current.looked = Instant::now();
            let seen = changed(&self.shared.files);
            if seen != current.seen {
                match load(&self.shared.files) {
                    Ok(config) => (current.config, current.seen) = (config, seen),
                    // Once for each change.
                    Err(failure) if current.refused != Some(seen) => {
                        current.refused = Some(seen);
                        let why = failure.chain();
                        tracing::error!(
                            why,
                            "the certificate was changed and cannot be used: the one before stays in use"
                        );
                    }
                    Err(_) => {}
                }
            }
        }
        TlsAcceptor::from(Arc::clone(&current.config))
    }
}

/// When each of the files was changed.
type Changed = [Option<SystemTime>; 2];

fn changed(files: &TlsFiles) -> Changed {
    let at = |file: &Path| std::fs::metadata(file).and_then(|it| it.modified()).ok();
    [at(&files.certificate), at(&files.key)]
}

fn load(files: &TlsFiles) -> Result<Arc<ServerConfig>, Failure> {
    let unreadable = |file: &Path, why: String| {
        let text = format!("{} cannot be used: {why}", file.display());
        Failure::new(Exit::Other, text)
            .with_hint("It must hold a certificate or its private key, in PEM.")
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable(
            &files.certificate,
            "it holds no certificate".to_owned(),
        ));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| unreadable(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|error| {
        let text = "the certificate and its key cannot be used together";
        Failure::new(Exit::Other, text).caused_by(error)
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
