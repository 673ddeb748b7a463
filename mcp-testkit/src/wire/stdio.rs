//! This process's own stdin and stdout as the pair of byte streams.

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream to read from.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
/// A byte stream to write to.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output. Pipes are used directly, anything else through a thread.
pub(crate) fn streams() -> (Input, Output) {
    #[cfg(unix)]
    let (input, output) = (pipe_in(), pipe_out());
    #[cfg(not(unix))]
    let (input, output) = (None, None);
    (
        input.unwrap_or_else(|| Box::new(tokio::io::stdin())),
        output.unwrap_or_else(|| Box::new(tokio::io::stdout())),
    )
}

#[cfg(unix)]
fn pipe_in() -> Option<Input> {
    use std::os::fd::AsFd as _;
    use tokio::net::unix::pipe::Receiver;

    let input = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    Some(Box::new(Receiver::from_owned_fd(input).ok()?))
}

#[cfg(unix)]
fn pipe_out() -> Option<Output> {
    use std::os::fd::AsFd as _;
    use tokio::net::unix::pipe::Sender;

    let output = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    Some(Box::new(Sender::from_owned_fd(output).ok()?))
}

/// Closes standard input for good.
pub(crate) fn close_input() {
    #[cfg(unix)]
    if let Ok(nothing) = std::fs::File::open("/dev/null") {
        // It stays open if this fails; a test will show that.
        let _ = nix::unistd::dup2_stdin(nothing);
    }
}

/// Closes standard output for good.
pub(crate) fn close_output() {
    #[cfg(unix)]
    if let Ok(nothing) = std::fs::File::options().write(true).open("/dev/null") {
        // It stays open if this fails; a test will show that.
        let _ = nix::unistd::dup2_stdout(nothing);
    }
}

/// Returns the signal's name when SIGTERM, or its equivalent elsewhere, arrives.
pub(crate) async fn terminated() -> &'static str {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut signals) = signal(SignalKind::terminate()) {
            signals.recv().await;
            return "SIGTERM";
        }
    }
    std::future::pending().await
}
