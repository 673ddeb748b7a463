//! `switchboard serve`.

#[cfg(unix)]
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::Global;
use crate::cli::browser;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::serve::{Options, Serve as Server};
use crate::store::LEASE_TIMEOUT;

/// Serves the web page and the API to this machine, until Ctrl-C ends it.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Listen on this port of 127.0.0.1; 0 is a free one
    #[arg(long, default_value_t = 7080, value_name = "PORT")]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Serve this user, with servers and conversations of their own; may be given several times
    #[arg(long = "user", value_name = "NAME")]
    users: Vec<String>,
    /// Let this user start programs on this machine and refer to its variables, keyring and files,
    /// as you can; may be given several times
    #[arg(long = "trust-user", value_name = "NAME")]
    trusted: Vec<String>,
    /// Let other machines that share the PostgreSQL database go on with this one's answers once it
    /// has been silent for this many seconds
    #[arg(long, default_value_t = LEASE_TIMEOUT.as_secs(), value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    lease_timeout: u64,
    /// Delay in milliseconds between pieces of the demo model's replies
    #[arg(long, default_value_t = 0, value_name = "MS")]
    demo_step: u64,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let database = home::database_file(global.database.as_deref());
        let lease_timeout = Duration::from_secs(self.lease_timeout);
        let store = global.store_with(lease_timeout).await?;
        let options = Options::beside(&database)
            .with_port(self.port)
            .with_users(self.users)
            .with_trusted_users(self.trusted)
            .with_demo_step(Duration::from_millis(self.demo_step));
        if let Some(cluster) = store.cluster()
            && let Some(warning) = cluster.silence().await
        {
            out.note(format!("! {warning}"));
        }
        let mut signals = Signals::new();
        let server = Server::start(store, options).await?;
        let links = server.links();
        let url = format!("http://{}/", server.address());
        let reported: Vec<_> = links
            .iter()
            .map(|link| json!({ "user": link.user, "url": link.url }))
            .collect();
        let text = match links {
            [link] => format!("Open {}", link.url),
            links => {
                let line = |link: &crate::serve::LoginLink| format!("{}: {}", link.user, link.url);
                let lines: Vec<String> = links.iter().map(line).collect();
                lines.join("\n")
            }
        };
        out.result(&json!({ "url": url, "links": reported }), text);
        out.note("The link contains your access token: do not share it. Ctrl-C stops the server.");
        if self.open
            && let Err(error) = server.one_time_url().and_then(|url| browser::open(&url))
        {
            out.note(format!("The browser cannot be opened: {error}"));
        }
        signals.next().await;
        out.note("Stopping. Ctrl-C again stops at once.");
        tokio::select! {
            () = server.stop() => {}
            () = signals.next() => {}
        }
        Ok(Exit::Done)
    }
}

/// Ctrl-C, and what asks a service to end.
struct Signals {
    interrupts: crate::chat::Interrupts,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        Self {
            interrupts: crate::chat::Interrupts::new(),
            #[cfg(unix)]
            terminate: {
                use tokio::signal::unix::{SignalKind, signal};
                signal(SignalKind::terminate()).ok()
            },
            #[cfg(unix)]
            hangup: {
                use tokio::signal::unix::{SignalKind, signal};
                let wanted = !super::processes::ignores_hangup();
                wanted.then(|| signal(SignalKind::hangup()).ok()).flatten()
            },
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        {
            let heard = |signal: &mut Option<tokio::signal::unix::Signal>,
                         context: &mut Context| {
                let heard = signal.as_mut().map(|signal| signal.poll_recv(context));
                heard.is_some_and(|heard| heard.is_ready())
            };
            let asked = std::future::poll_fn(|context| {
                match heard(&mut self.terminate, context) || heard(&mut self.hangup, context) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            });
            tokio::select! {
                () = self.interrupts.next() => {}
                () = asked => {}
            }
        }
        #[cfg(not(unix))]
        self.interrupts.next().await;
    }
}
