//! Floods of notifications.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::shape::log_note;
use crate::fault::{Fault, Kind};
use crate::protocol::{Piece, notification};
use crate::{Script, Step};

pub(super) const FAULTS: &[Fault] = &[
    Fault::call(
        "list-changed-storm",
        "says 10 000 times that the tools changed before it answers the first call",
        |asked| {
            let note = notification("notifications/tools/list_changed", json!({})).to_string();
            let note = note.into_bytes();
            vec![
                Piece::Many(10_000, Arc::new(move |_| note.clone())),
                asked.good(),
            ]
        },
    ),
    Fault::call(
        "log-flood",
        "sends 100 MB of log messages before it answers the first call",
        |asked| {
            let note = log_note(&"z".repeat(20_000)).to_string().into_bytes();
            vec![
                Piece::Many(5_000, Arc::new(move |_| note.clone())),
                asked.good(),
            ]
        },
    ),
    Fault::call(
        "progress-flood",
        "sends 50 000 progress notifications before it answers the first call",
        |asked| {
            let token = asked.progress_token();
            let make = move |number: u64| {
                let params = json!({"progressToken": token, "progress": number, "total": 50_000});
                notification("notifications/progress", params)
                    .to_string()
                    .into_bytes()
            };
            vec![Piece::Many(50_000, Arc::new(make)), asked.good()]
        },
    ),
    Fault::new(
        "progress-keeps-alive",
        "sends progress for ever and never answers a call",
        Kind::Script(|script: Script| {
            let Some(echo) = script.tool("echo").cloned() else {
                return script;
            };
            script.with_tool(echo.with_step(Step::ProgressForEver(Duration::from_millis(300))))
        }),
    ),
];
