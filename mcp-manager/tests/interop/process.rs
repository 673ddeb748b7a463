//! Processes, seen from outside.

use std::fs;

/// The processes of a group that are not merely waiting to be reaped.
pub(crate) fn group(leader: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of_group = ids.filter(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // `id (name) state parent group …`, where the name may hold anything.
        let mut rest = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let (state, group) = (rest.next(), rest.nth(1));
        state != Some("Z") && group == Some(leader.to_string().as_str())
    });
    of_group.collect()
}

/// SIGKILL.
pub(crate) fn kill(id: u32) {
    let killed = std::process::Command::new("kill")
        .args(["-9", &id.to_string()])
        .status();
    assert!(killed.unwrap().success());
}
