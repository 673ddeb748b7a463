//! A Unix terminal: its modes, and its bytes.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use crate::chat::key::{Key, Keys};

/// Pasted text comes between marks.
const PASTE_ON: &[u8] = b"\x1b[?2004h";
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// The terminal as it was found, while it is not, and whether it marks pasted text.
static FOUND: Mutex<Option<(Termios, bool)>> = Mutex::new(None);

/// Ends a wait for keys.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Arc<UnixStream>);

impl Waker {
    pub(crate) fn wake(&self) {
        // A full socket wakes as well.
        let _ = (&*self.0).write(&[0]);
    }
}

/// Why a wait ended.
#[derive(Debug)]
pub(crate) enum Woken {
    Keys(Vec<Key>),
    /// By the waker.
    Wish,
    /// The terminal is gone.
    End,
}

pub(crate) struct Tty {
    wakes: UnixStream,
    keys: Keys,
    /// Whether the terminal understands no control sequences.
    plain: bool,
}

/// Restores the terminal.
pub(crate) fn restore() {
    if let Some((found, marks)) = FOUND.lock().take() {
        // A terminal that is gone needs nothing.
        if marks {
            let _ = rustix::io::write(stdout(), PASTE_OFF);
        }
        let _ = tcsetattr(stdin(), OptionalActions::Now, &found);
    }
}

/// The terminal's width.
pub(crate) fn columns() -> usize {
    match tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => 80,
    }
}

impl Tty {
    pub(crate) fn open(plain: bool) -> io::Result<(Self, Waker)> {
        let (wakes, waker) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let keys = Keys::default();
        Ok((Self { wakes, keys, plain }, Waker(Arc::new(waker))))
    }

    /// Whether keys come one by one, without the kernel's echo, editing and signals. What is
    /// written is treated as before.
    pub(crate) fn raw(&self, raw: bool) {
        if !raw {
            return restore();
        }
        let mut found = FOUND.lock();
        if found.is_some() {
            return;
        }
        let Ok(before) = tcgetattr(stdin()) else {
            return;
        };
        let mut modes = before.clone();
        let local = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        modes.local_modes.remove(local);
        modes
            .input_modes
            .remove(InputModes::ICRNL | InputModes::IXON);
        if tcsetattr(stdin(), OptionalActions::Now, &modes).is_ok() {
            *found = Some((before, !self.plain));
            if !self.plain {
                let _ = rustix::io::write(stdout(), PASTE_ON);
            }
        }
    }

    /// Waits for keys, if they are wanted, or for the waker.
    pub(crate) fn wait(&mut self, keys: bool) -> Woken {
        let (stdin, wakes) = (stdin(), self.wakes.as_fd());
        let mut fds = vec![PollFd::from_borrowed_fd(wakes, PollFlags::IN)];
        if keys {
            fds.push(PollFd::from_borrowed_fd(stdin, PollFlags::IN));
        }
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(Errno::INTR) => return Woken::Keys(Vec::new()),
            Err(_) => return Woken::End,
        }
        let ready = |place: usize| fds.get(place).is_some_and(|fd| !fd.revents().is_empty());
        let (woken, typed) = (ready(0), ready(1));
        if woken {
            let mut bytes = [0; 64];
            let _ = self.wakes.read(&mut bytes);
            return Woken::Wish;
        }
        match typed {
            true => self.read(stdin).map_or(Woken::End, Woken::Keys),
            false => Woken::Keys(Vec::new()),
        }
    }

    /// All keys that were pressed until now.
    pub(crate) fn drain(&mut self) -> io::Result<Vec<Key>> {
        let mut all = Vec::new();
        loop {
            let stdin = stdin();
            let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&Timespec::default())) {
                Ok(0) => return Ok(all),
                Ok(_) => all.extend(self.read(stdin)?),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read(&mut self, stdin: BorrowedFd<'_>) -> io::Result<Vec<Key>> {
        let mut bytes = [0; 4096];
        match rustix::io::read(stdin, &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => Ok(self.keys.push(bytes.get(..read).unwrap_or_default())),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn in_paste(&self) -> bool {
        self.keys.in_paste()
    }

    /// Its width.
    pub(crate) fn columns(&self) -> usize {
        columns()
    }

    /// Stops the program until the shell lets it go on.
    pub(crate) fn suspend(&self) {
        self.raw(false);
        let _ = kill_current_process_group(Signal::TSTP);
        self.raw(true);
    }
}
