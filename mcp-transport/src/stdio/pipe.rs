//! Pipes with one end for the async runtime and one for a child.
//!
//! Neither end goes through the runtime's blocking threads: on Unix they are plain non-blocking
//! pipes, on Windows named pipes, the only kind there that can be waited for. (A quiet child would
//! else pin a thread for each of its streams.)

#[cfg(unix)]
pub(super) use unix::{ReadPipe, WritePipe, from_child, to_child};
#[cfg(windows)]
pub(super) use windows::{ReadPipe, WritePipe, from_child, to_child};

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

    /// A fresh pipe, both ends. Its name is used once; nobody else can have opened it, for the
    /// first instance is asked for and only one is allowed.
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
