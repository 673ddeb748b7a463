//! Pipes with one end for the async runtime and one for a child.
//!
//! Neither end uses the runtime's blocking threads, where a quiet child would occupy a thread for each of its streams:
//! on Unix they are non-blocking pipes, on Windows named pipes, the only kind there that supports asynchronous IO.
//!
//! On Linux a child's stdout is a socket pair instead: copying to or from a pipe locks out the other end meanwhile,
//! while the ends of a socket pair work in parallel. Programs started by Node have sockets as well. A program cannot
//! reopen `/dev/stdout` on a socket; stdin and stderr stay pipes.

#[cfg(target_os = "linux")]
pub(super) use linux::{MessagePipe, messages_from_child};
#[cfg(unix)]
pub(super) use unix::{ReadPipe, WritePipe, from_child, to_child};
#[cfg(windows)]
pub(super) use windows::{ReadPipe, WritePipe, from_child, to_child};
#[cfg(not(target_os = "linux"))]
pub(super) use {ReadPipe as MessagePipe, from_child as messages_from_child};

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{self, PipeWriter};
    use std::os::fd::OwnedFd;

    use socket2::SockRef;
    use tokio::net::UnixStream;

    /// The size of the send buffer, if the system allows it: the writer of a large message blocks less
    /// often.
    const ROOM: usize = 1024 * 1024;

    pub(in crate::stdio) type MessagePipe = UnixStream;

    pub(in crate::stdio) fn messages_from_child() -> io::Result<(MessagePipe, PipeWriter)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let _ = SockRef::from(&theirs).set_send_buffer_size(ROOM);
        ours.set_nonblocking(true)?;
        Ok((UnixStream::from_std(ours)?, OwnedFd::from(theirs).into()))
    }
}

#[cfg(unix)]
mod unix {
    use std::io::{self, PipeReader, PipeWriter};

    use tokio::net::unix::pipe::{Receiver, Sender};

    pub(in crate::stdio) type ReadPipe = Receiver;
    pub(in crate::stdio) type WritePipe = Sender;

    pub(in crate::stdio) fn to_child() -> io::Result<(WritePipe, PipeReader)> {
        let (theirs, ours) = io::pipe()?;
        Ok((Sender::from_owned_fd(ours.into())?, theirs))
    }

    pub(in crate::stdio) fn from_child() -> io::Result<(ReadPipe, PipeWriter)> {
        let (ours, theirs) = io::pipe()?;
        Ok((Receiver::from_owned_fd(ours.into())?, theirs))
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::{File, OpenOptions};
    use std::io::{self, PipeReader, PipeWriter};
    use std::os::windows::io::OwnedHandle;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

    pub(in crate::stdio) type ReadPipe = NamedPipeServer;
    pub(in crate::stdio) type WritePipe = NamedPipeServer;

    const BUFFER: u32 = 64 * 1024;

    pub(in crate::stdio) fn to_child() -> io::Result<(WritePipe, PipeReader)> {
        let mut options = ServerOptions::new();
        options
            .access_inbound(false)
            .access_outbound(true)
            .out_buffer_size(BUFFER);
        let (ours, theirs) = pair(&options, OpenOptions::new().read(true))?;
        Ok((ours, PipeReader::from(OwnedHandle::from(theirs))))
    }

    pub(in crate::stdio) fn from_child() -> io::Result<(ReadPipe, PipeWriter)> {
        let mut options = ServerOptions::new();
        options
            .access_inbound(true)
            .access_outbound(false)
            .in_buffer_size(BUFFER);
        let (ours, theirs) = pair(&options, OpenOptions::new().write(true))?;
        Ok((ours, PipeWriter::from(OwnedHandle::from(theirs))))
    }

    /// Creates both ends of a new pipe. Its name is used once, and no other process can have opened it: the first
    /// instance is requested and only one is allowed.
    fn pair(options: &ServerOptions, open: &OpenOptions) -> io::Result<(NamedPipeServer, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let (host, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!(r"\\.\pipe\mcp-stdio-{host}-{number}");
        let mut options = options.clone();
        options
            .first_pipe_instance(true)
            .max_instances(1)
            .reject_remote_clients(true);
        let ours = options.create(&name)?;
        let theirs = open.open(&name)?;
        Ok((ours, theirs))
    }
}
