//! Records of calls by the loop, the toolbox and the servers, which must agree.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use agent_loop::{FailureKind, Outcome, Status, ToolCallRecord};
use parking_lot::Mutex;
use serde_json::Value;

use crate::role::{ROLES, Role};

/// The driver's record: a line for every event of a call. It is on disk, so that the records do not count as growing
/// memory.
pub(crate) struct Recorder {
    folder: PathBuf,
    book: Mutex<BufWriter<File>>,
}

/// The outcome of a call as seen by the toolbox.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Ending {
    /// The server answered.
    Answered,
    /// It was never sent.
    NotSent,
    /// It timed out.
    Timeout,
    /// It was interrupted.
    Unknown,
    /// The server rejected it.
    Refused,
    /// It waits for the user, or became a task: it continues.
    Paused,
    /// It was cancelled.
    Dropped,
}

const ENDINGS: &[(Ending, &str)] = &[
    (Ending::Answered, "answered"),
    (Ending::NotSent, "not-sent"),
    (Ending::Timeout, "timeout"),
    (Ending::Unknown, "unknown"),
    (Ending::Refused, "refused"),
    (Ending::Paused, "paused"),
    (Ending::Dropped, "dropped"),
];

impl Ending {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Result(_) => Self::Answered,
            Outcome::Failed(failure) => match failure.kind {
                FailureKind::NotSent | FailureKind::NoTool => Self::NotSent,
                FailureKind::Timeout => Self::Timeout,
                FailureKind::Unknown => Self::Unknown,
                _ => Self::Refused,
            },
            _ => Self::Paused,
        }
    }

    fn word(self) -> &'static str {
        let found = ENDINGS.iter().find(|(ending, _)| *ending == self);
        found.map_or("", |(_, word)| word)
    }

    fn read(word: &str) -> Option<Self> {
        let found = ENDINGS.iter().find(|(_, other)| *other == word);
        found.map(|(ending, _)| *ending)
    }
}

/// The id in a call's arguments.
pub(crate) fn id_of(arguments: &str) -> Option<u64> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    // An invalid call through `tool_call` has them one level down.
    let inner = arguments.pointer("/arguments/id");
    arguments.get("id").or(inner)?.as_u64()
}

impl Recorder {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let book = File::create(folder.join("driver.book"))?;
        Ok(Self {
            folder: folder.to_owned(),
            book: Mutex::new(BufWriter::new(book)),
        })
    }

    fn line(&self, line: &str) {
        let mut book = self.book.lock();
        // A full disk appears as missing calls.
        let _ = writeln!(book, "{line}");
    }

    /// The loop reported a call.
    pub(crate) fn asked(&self, id: u64) {
        self.line(&format!("asked {id}"));
    }

    /// The toolbox received a call.
    pub(crate) fn begun(&self, id: u64, server: &str) {
        self.line(&format!("begun {id} {server}"));
    }

    /// The toolbox finished a call.
    pub(crate) fn ended(&self, id: u64, ending: Ending) {
        self.line(&format!("ended {id} {}", ending.word()));
    }

    /// A run has ended: these are the records of its calls.
    pub(crate) fn settled(&self, records: &[ToolCallRecord]) {
        for record in records {
            if let Some(id) = id_of(record.arguments.text()) {
                let word = match record.status {
                    Status::Done => "done",
                    status if status.is_over() => "over",
                    _ => "open",
                };
                self.line(&format!("settled {id} {word}"));
            }
        }
    }

    /// Compares all records. Call it when nothing is in flight any more.
    pub(crate) fn judge(&self) -> io::Result<Verdict> {
        self.book.lock().flush()?;
        let mut fates = HashMap::<u64, Fate>::new();
        for line in lines(&self.folder.join("driver.book"))? {
            read(&line?, &mut fates);
        }
        for role in ROLES {
            let path = self.folder.join(format!("{}.done", role.name));
            if path.exists() {
                for line in lines(&path)? {
                    if let Ok(id) = line?.parse() {
                        fates.entry(id).or_default().acted += 1;
                    }
                }
            }
        }
        Ok(Verdict::of(&fates))
    }
}

fn lines(path: &Path) -> io::Result<io::Lines<BufReader<File>>> {
    Ok(BufReader::new(File::open(path)?).lines())
}

/// Everything known about a call.
#[derive(Debug, Default)]
struct Fate {
    begun: u32,
    server: Option<Role>,
    ending: Option<Ending>,
    settled: u32,
    done: bool,
    open: bool,
    acted: u32,
}

fn read(line: &str, fates: &mut HashMap<u64, Fate>) {
    let mut words = line.split(' ');
    let (verb, id, more) = (words.next(), words.next(), words.next());
    let Some(id) = id.and_then(|id| id.parse().ok()) else {
        return;
    };
    let fate = fates.entry(id).or_default();
    match (verb, more) {
        (Some("begun"), Some(server)) => {
            fate.begun += 1;
            fate.server = Role::named(server);
        }
        (Some("ended"), Some(word)) => fate.ending = Ending::read(word),
        (Some("settled"), Some(word)) => {
            fate.settled += 1;
            fate.done = word == "done";
            fate.open = word == "open";
        }
        _ => {}
    }
}

/// The result of comparing the records.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) calls: u64,
    pub(crate) acted: u64,
    pub(crate) endings: BTreeMap<Ending, u64>,
    /// Calls that the toolbox never saw: denied, cancelled, over a limit, or invalid.
    pub(crate) not_made: u64,
    /// Calls that ended with no outcome, or with several.
    pub(crate) lost: Vec<u64>,
    pub(crate) settled_twice: Vec<u64>,
    /// Calls that were made, or executed, more than once.
    pub(crate) doubled: Vec<u64>,
    /// Calls that were answered, and yet not executed exactly once.
    pub(crate) answered_wrongly: Vec<u64>,
    /// Calls that were not made, and yet executed.
    pub(crate) acted_wrongly: Vec<u64>,
    /// Calls of steady servers that were neither answered nor cancelled.
    pub(crate) troubled: Vec<u64>,
}

impl Verdict {
    fn of(fates: &HashMap<u64, Fate>) -> Self {
        let mut verdict = Self::default();
        for (id, fate) in fates {
            verdict.calls += 1;
            verdict.acted += u64::from(fate.acted);
            match fate.ending {
                Some(ending) => *verdict.endings.entry(ending).or_default() += 1,
                None => verdict.not_made += 1,
            }
            let answered = fate.ending == Some(Ending::Answered);
            let not_made = matches!(fate.ending, None | Some(Ending::NotSent));
            let steady = fate.server.is_some_and(Role::is_steady);
            let taken_back = matches!(fate.ending, Some(Ending::Dropped | Ending::Paused));
            for (wrong, list) in [
                (fate.settled == 0 || fate.open, &mut verdict.lost),
                (
                    fate.settled > 1 || (fate.done && !answered),
                    &mut verdict.settled_twice,
                ),
                (fate.begun > 1 || fate.acted > 1, &mut verdict.doubled),
                (answered && fate.acted != 1, &mut verdict.answered_wrongly),
                (not_made && fate.acted > 0, &mut verdict.acted_wrongly),
                (steady && !answered && !taken_back, &mut verdict.troubled),
            ] {
                if wrong {
                    list.push(*id);
                }
            }
        }
        verdict
    }
}
