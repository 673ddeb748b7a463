//! The scanner, measured on the definitions of real servers. `cargo xtask scan` installs them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mcp_jsonrpc::model::Tool;
use serde_json::{Value, json};
use tool_policy::{Finding, Neighbours, Severity, ToolScan, scan_instructions};

use crate::scan::{missed, tool};

/// Real tools of which one may be suspected wrongly: the target is 0.5 %.
const HONEST_FOR_AN_ALARM: usize = 200;

/// `SCAN_TOOLS` is a file of JSON lines, each with a `package`, its `tools` and perhaps its
/// `instructions`. Time is printed, not judged.
#[test]
#[ignore = "run by `cargo xtask scan`, which installs servers"]
fn real_servers_are_rarely_suspected_and_held_out_attacks_rarely_missed() {
    let text = std::fs::read_to_string(std::env::var("SCAN_TOOLS").unwrap()).unwrap();
    let servers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (mut tools, mut alarms, mut time) = (0, 0, Duration::ZERO);
    for server in &servers {
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        let others = servers
            .iter()
            .filter(|other| other["package"] != server["package"]);
        let names = others
            .flat_map(|it| it["tools"].as_array().unwrap())
            .map(name);
        let own = server["tools"].as_array().unwrap();
        let neighbours = Neighbours::new(names).without(own.iter().map(name));
        let mut shown = BTreeSet::new();
        let mut is_alarm = |what: &Value, findings: &[Finding]| {
            let alarm = findings.iter().find(|it| it.severity >= Severity::Medium);
            if let Some(alarm) = alarm.filter(|it| shown.insert(it.rule)) {
                println!("{} {what}: {alarm}", server["package"]);
            }
            usize::from(alarm.is_some())
        };
        let definitions: Vec<Tool> = own.iter().map(tool).collect();
        for definition in &definitions {
            let start = Instant::now();
            let findings = ToolScan::of(definition).beside(&neighbours);
            time += start.elapsed();
            tools += 1;
            alarms += is_alarm(&json!(definition.name), &findings);
        }
        let instructions = server["instructions"].as_str().unwrap_or_default();
        is_alarm(
            &json!("instructions"),
            &scan_instructions(instructions, &neighbours),
        );
    }
    let (poisoned, missed) = missed(include_str!("scan/held_out.json"));
    let found = poisoned - missed.len();
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
    println!("{} servers, {tools} tools", servers.len());
    println!("false alarms: {alarms} ({:.2} %)", percent(alarms, tools));
    println!(
        "held out: {found} of {poisoned} found, recall {:.1} %",
        percent(found, poisoned)
    );
    println!("precision: {:.1} %", percent(found, found + alarms));
    println!("10,000 tools: {:?}", time * 10_000 / tools as u32);
    assert!(
        alarms * HONEST_FOR_AN_ALARM <= tools,
        "too many false alarms"
    );
    assert!(found * 20 >= poisoned * 19, "{missed:?}");
}
