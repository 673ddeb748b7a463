//! The options for those who serve other machines.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::exit::Failure;
use crate::serve::{Network, Reach, TlsFiles};

/// How other machines reach what is served here.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReachOptions {
    /// Use TLS with the certificate in this PEM file; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The address by which clients reach it, such as https://team.example
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Accept connections from this proxy only, which has to use TLS; may be given several times
    #[arg(long = "trust-proxy", value_name = "CIDR")]
    proxies: Vec<Network>,
}

impl ReachOptions {
    /// What is served at this address.
    pub(crate) fn at(self, listen: SocketAddr) -> Result<Reach, Failure> {
        let tls = self.tls_cert.zip(self.tls_key);
        let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
        Reach::network(listen, tls, self.public_url.as_deref(), self.proxies)
    }
}
