//! The sandbox: a spawner.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_transport::{ProcessStatus, SpawnRequest, SpawnedProcess, Spawner, Stop, TransportError};

use crate::containment::Containment;
use crate::denial::{Denial, Denials, Wanted};
use crate::platform;
use crate::profile::{Network, Profile};
use crate::proxy::Proxy;

/// Starts a server under a profile: a spawner for one server.
///
/// The server gets its own folder, with `home` and `tmp` in it, to which its `HOME` and `TMPDIR` point; everything it
/// stores is there. Guarantees that cannot be enforced on this machine are in [`containment`](Self::containment); the
/// server does not start without them, unless the profile allows that.
#[derive(Clone, Debug)]
pub struct Sandbox {
    profile: Arc<Profile>,
    folder: PathBuf,
    denials: Arc<Denials>,
}

impl Sandbox {
    /// Creates a sandbox for one server. `folder` is created when the server starts, and belongs to it alone: no other
    /// server may use it, and nothing the host trusts may be in it.
    pub fn new(profile: Profile, folder: impl Into<PathBuf>) -> Self {
        Self {
            profile: Arc::new(profile),
            folder: folder.into(),
            denials: Arc::default(),
        }
    }

    /// Sets a callback for the first refusal of each connection by the sandbox. The server waits while `observer` runs,
    /// so it must be quick.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Wanted) + Send + Sync + 'static) -> Self {
        self.denials = Arc::new(Denials::observed(observer));
        self
    }

    /// The guarantees that hold for the server on this machine.
    pub fn containment(&self) -> Containment {
        platform::containment(&self.profile)
    }

    /// The profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The server's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The connections that the sandbox itself has refused since its creation, because the profile does not list their
    /// hosts. The kernel does not report its denials; [`Denial::in_text`] extracts them from the server's own messages.
    pub fn denials(&self) -> Vec<Denial> {
        self.denials.all()
    }

    /// Why the server cannot start under this profile, if it cannot.
    fn obstacle(&self) -> Option<String> {
        if let Err(reason) = platform::check(&self.profile) {
            return Some(reason.to_owned());
        }
        if !self.folder.is_absolute() {
            let folder = self.folder.display();
            return Some(format!("its own folder '{folder}' is not an absolute path"));
        }
        if self.profile.may_be_weaker {
            return None;
        }
        let containment = self.containment();
        let missing = containment.missing();
        let missing: Vec<_> = missing
            .filter(|(which, _)| !self.profile.may_lack.contains(which))
            .collect();
        let said = missing.iter().map(|(which, why)| format!("{which}: {why}"));
        (!missing.is_empty()).then(|| {
            format!(
                "this machine cannot contain it as its profile says ({}). Name what it may lack in \
                 `mayLack` to start it all the same",
                said.collect::<Vec<_>>().join("; ")
            )
        })
    }

    /// Makes the server's folders, for the user alone.
    fn make_folders(&self) -> io::Result<PathBuf> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for folder in ["home", "tmp"] {
            builder.create(self.folder.join(folder))?;
        }
        // Rules are for what links lead to.
        self.folder.canonicalize()
    }
}

#[async_trait]
impl Spawner for Sandbox {
    async fn spawn(
        &self,
        request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        let program = request.program.clone();
        let failed = |source: io::Error| TransportError::Spawn {
            program: program.clone(),
            source: Box::new(source),
        };
        if let Some(obstacle) = self.obstacle() {
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, obstacle)));
        }
        let folder = self.make_folders().map_err(failed)?;
        let proxy = match &self.profile.network {
            Network::Hosts(rules) => {
                let denials = Arc::clone(&self.denials);
                Some(Proxy::start(rules.clone(), denials).await.map_err(failed)?)
            }
            Network::None | Network::All => None,
        };
        let port = proxy.as_ref().map(Proxy::port);
        let profile = Arc::clone(&self.profile);
        let denials = Arc::clone(&self.denials);
        let inner = platform::spawn(request, profile, folder, port, denials).await?;
        Ok(Arc::new(Contained {
            inner,
            _proxy: proxy,
        }))
    }
}

/// A contained server, with the proxy that lives as long as it.
#[derive(Debug)]
struct Contained {
    inner: Arc<dyn SpawnedProcess>,
    _proxy: Option<Proxy>,
}

#[async_trait]
impl SpawnedProcess for Contained {
    fn id(&self) -> Option<u32> {
        self.inner.id()
    }

    async fn exited(&self) -> ProcessStatus {
        self.inner.exited().await
    }

    async fn gone(&self) {
        self.inner.gone().await;
    }

    fn stop(&self, how: Stop) {
        self.inner.stop(how);
    }
}
