//! A Windows console, through crossterm: its modes, and its events.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

use crate::chat::key::Key;

/// How often a wait for keys looks whether it is to end: events have no waker of ours.
const LOOK: Duration = Duration::from_millis(20);

/// Whether the console is not as it was found.
static RAW: AtomicBool = AtomicBool::new(false);

/// Ends a wait for keys.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Arc<AtomicBool>);

impl Waker {
    pub(crate) fn wake(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Why a wait ended.
#[derive(Debug)]
pub(crate) enum Woken {
    Keys(Vec<Key>),
    /// By the waker.
    Wish,
    /// The console is gone.
    End,
}

pub(crate) struct Tty {
    woken: Arc<AtomicBool>,
}

/// Restores the console.
pub(crate) fn restore() {
    if RAW.swap(false, Ordering::AcqRel) {
        let _ = disable_raw_mode();
    }
}

/// The terminal's width.
pub(crate) fn columns() -> usize {
    size().map_or(80, |(columns, _)| usize::from(columns.max(1)))
}

impl Tty {
    pub(crate) fn open(_plain: bool) -> io::Result<(Self, Waker)> {
        let woken = Arc::new(AtomicBool::new(false));
        let waker = Waker(Arc::clone(&woken));
        Ok((Self { woken }, waker))
    }

    pub(crate) fn raw(&self, raw: bool) {
        if !raw {
            return restore();
        }
        if !RAW.load(Ordering::Acquire) && enable_raw_mode().is_ok() {
            RAW.store(true, Ordering::Release);
        }
    }

    pub(crate) fn wait(&mut self, keys: bool) -> Woken {
        loop {
            if self.woken.swap(false, Ordering::AcqRel) {
                return Woken::Wish;
            }
            if !keys {
                std::thread::park_timeout(LOOK);
                continue;
            }
            match poll(LOOK) {
                Ok(false) => {}
                Ok(true) => return self.drain().map_or(Woken::End, Woken::Keys),
                Err(_) => return Woken::End,
            }
        }
    }

    pub(crate) fn drain(&mut self) -> io::Result<Vec<Key>> {
        let mut all = Vec::new();
        while poll(Duration::ZERO)? {
            all.extend(key(read()?));
        }
        Ok(all)
    }

    pub(crate) fn in_paste(&self) -> bool {
        false
    }

    pub(crate) fn columns(&self) -> usize {
        columns()
    }

    /// There is no such thing here.
    pub(crate) fn suspend(&self) {}
}

fn key(event: Event) -> Option<Key> {
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press | KeyEventKind::Repeat,
        ..
    }) = event
    else {
        return None;
    };
    // AltGr is both of them, and makes characters.
    let altgr = modifiers.contains(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let control = modifiers.contains(KeyModifiers::CONTROL) && !altgr;
    Some(match code {
        KeyCode::Char(letter) if control => match letter.to_ascii_lowercase() {
            'a' => Key::Home,
            'b' => Key::Left,
            'c' => Key::Interrupt,
            'd' => Key::Eof,
            'e' => Key::End,
            'f' => Key::Right,
            'k' => Key::KillToEnd,
            'n' => Key::Down,
            'p' => Key::Up,
            'u' => Key::KillToStart,
            'w' => Key::KillWord,
            _ => return None,
        },
        KeyCode::Char(char) => Key::Char(char),
        KeyCode::Enter if modifiers.contains(KeyModifiers::ALT) => Key::Char('\n'),
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Char('\t'),
        KeyCode::Backspace if control => Key::KillWord,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left if control => Key::WordLeft,
        KeyCode::Right if control => Key::WordRight,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
