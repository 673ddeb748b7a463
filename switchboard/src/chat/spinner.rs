//! What is going on while nothing else is shown: what, and for how long.

use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar as _;

use crate::chat::terminal::columns;
use crate::display::out::Out;
use crate::lang::t;

/// How long something may take before it is shown.
const PATIENT: Duration = Duration::from_millis(400);
/// How often it is said where nothing is drawn over.
const SAID: Duration = Duration::from_secs(15);
const FRAMES: [&str; 4] = ["-", "\\", "|", "/"];

/// What is going on.
#[derive(Debug)]
pub(crate) struct Spinner {
    out: Out,
    busy: Option<Busy>,
    /// Whether a line of ours is on the screen.
    drawn: bool,
    frame: usize,
}

#[derive(Debug)]
struct Busy {
    what: String,
    since: Instant,
    said: u32,
}

impl Spinner {
    pub(crate) fn new(out: Out) -> Self {
        Self {
            out,
            busy: None,
            drawn: false,
            frame: 0,
        }
    }

    /// Something begins now.
    pub(crate) fn start(&mut self, what: &str) {
        self.busy = Some(Busy {
            what: what.to_owned(),
            since: Instant::now(),
            said: 0,
        });
    }

    /// It goes on with this.
    pub(crate) fn say(&mut self, what: &str) {
        if let Some(busy) = &mut self.busy
            && busy.what != what
        {
            what.clone_into(&mut busy.what);
        }
    }

    /// As [`say`](Self::say), and shows it at once.
    pub(crate) fn show(&mut self, what: &str) {
        self.say(what);
        self.draw();
    }

    /// Nothing goes on any more.
    pub(crate) fn stop(&mut self) {
        self.erase();
        self.busy = None;
    }

    /// Takes its line away: something else is to be shown.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.out.overwrite("");
        }
    }

    /// Shows how much time has passed.
    pub(crate) fn tick(&mut self) {
        let Some(busy) = &mut self.busy else { return };
        let took = busy.since.elapsed();
        if self.out.is_plain() {
            if took > SAID * (busy.said + 1) && self.out.is_interactive() {
                busy.said += 1;
                let seconds = took.as_secs();
                self.out.say(t!(
                    "{what}, {n} seconds so far",
                    what = busy.what,
                    n = seconds
                ));
            }
        } else if took > PATIENT {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let Some(busy) = &self.busy else { return };
        if !self.out.can_redraw() {
            return;
        }
        self.frame += 1;
        let frame = FRAMES.get(self.frame % FRAMES.len()).unwrap_or(&"");
        let seconds = busy.since.elapsed().as_secs();
        let what = format!("  {frame} {} {seconds} s", busy.what);
        // A line that wraps could not be taken away again.
        let mut room = columns().saturating_sub(1);
        let fits = |sign: &char| {
            let wide = sign.width().unwrap_or(0);
            let fits = wide <= room;
            room = room.saturating_sub(wide);
            fits
        };
        let what: String = what.chars().take_while(fits).collect();
        self.out.overwrite(&what);
        self.drawn = true;
    }
}
