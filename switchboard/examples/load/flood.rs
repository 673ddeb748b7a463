//! A server that floods its log.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::Server;

/// How long a server floods its log, and how often that is looked at.
const FLOOD: Duration = Duration::from_secs(30);
const FLOOD_LOOK: Duration = Duration::from_millis(500);
/// What the log of one server may take on disk.
const LOG_BYTES: u64 = 2 << 20;

impl Server {
    /// A server that writes to standard error as fast as it can, and never answers.
    pub(super) fn log_flood(&self, home: &Path) {
        let server = json!({"name": "flood", "command": "sh", "args": ["-c", "yes x >&2"]});
        let added = self.door().done("POST", "/api/mcp-servers", Some(&server));
        let path = format!("/api/mcp-servers/{}", added["id"].as_str().unwrap());
        let file = home.join(format!("logs/{}.log", added["id"].as_str().unwrap()));
        let (memory, cpu, began) = (self.memory(), self.cpu(), Instant::now());
        let (mut most, mut bytes, mut times) = (memory, 0, Vec::new());
        std::thread::scope(|scope| {
            // It returns when the server has had its time to connect, which ends it.
            scope.spawn(|| {
                while began.elapsed() < FLOOD {
                    self.door().ask("POST", &format!("{path}/connect"), None);
                }
            });
            while began.elapsed() < FLOOD {
                std::thread::sleep(FLOOD_LOOK);
                let asked = Instant::now();
                let log = self
                    .door()
                    .done("GET", &format!("{path}/logs?lines=5"), None);
                times.push(asked.elapsed());
                assert!(log["lines"].as_array().unwrap().len() <= 5);
                bytes = bytes.max(std::fs::metadata(&file).map_or(0, |file| file.len()));
                most = most.max(self.memory());
            }
            self.door().done("DELETE", &path, None);
        });
        assert!(bytes > 0 && bytes <= LOG_BYTES, "a log of {bytes} bytes");
        times.sort();
        println!(
            "a log flood of {FLOOD:.0?}: {bytes} bytes on disk at most; memory from {memory} KiB \
             to {most} KiB at most; logs?lines=5: median {:.2?}, slowest {:.2?}; {:.2} s of CPU",
            times[times.len() / 2],
            times[times.len() - 1],
            self.cpu() - cpu
        );
    }
}
