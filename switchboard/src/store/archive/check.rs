//! Checks what a store holds.

use crate::store::archive::raw::Raw;
use crate::store::error::StoreError;

/// Something that should not be.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub problem: String,
    /// How many rows it concerns.
    pub rows: u64,
}

/// Each query counts rows that must not be there.
const RULES: &[(&str, &str)] = &[
    (
        "a conversation has several answers that are not over",
        "SELECT COUNT(*) FROM (SELECT conversation_id FROM runs WHERE finish IS NULL
             GROUP BY conversation_id HAVING COUNT(*) > 1) AS found",
    ),
    (
        "an unfinished answer has no saved state",
        "SELECT COUNT(*) FROM runs WHERE finish IS NULL AND state = ''",
    ),
    (
        "an answer belongs to a message of another conversation",
        "SELECT COUNT(*) FROM runs r JOIN messages m ON m.id = r.message_id
             WHERE m.conversation_id <> r.conversation_id",
    ),
    (
        "a question is open, but its answer is over",
        "SELECT COUNT(*) FROM pending_interactions p WHERE p.state = 'open'
             AND NOT EXISTS (SELECT 1 FROM runs r
                 WHERE r.conversation_id = p.conversation_id AND r.finish IS NULL)",
    ),
    (
        "a call is open, but its answer is over",
        "SELECT COUNT(*) FROM tool_calls c JOIN messages m ON m.id = c.message_id
             WHERE c.status IN ('pending', 'invoking', 'queued')
             AND NOT EXISTS (SELECT 1 FROM runs r
                 WHERE r.conversation_id = m.conversation_id AND r.finish IS NULL)",
    ),
    (
        "a result that was kept beside its message is missing",
        "SELECT COUNT(*) FROM tool_calls c WHERE c.result_blob IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = c.result_blob)",
    ),
    (
        "a rule is about a server that is gone",
        "SELECT COUNT(*) FROM approval_rules r WHERE r.server_id IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM mcp_servers s WHERE s.id = r.server_id)",
    ),
    (
        "an assistant has a server of another user",
        "SELECT COUNT(*) FROM assistant_mcp_servers x JOIN assistants a ON a.id = x.assistant_id
             JOIN mcp_servers s ON s.id = x.mcp_server_id WHERE s.user_id <> a.user_id",
    ),
    (
        "a conversation has an assistant of another user",
        "SELECT COUNT(*) FROM conversations c JOIN assistants a ON a.id = c.assistant_id
             WHERE a.user_id <> c.user_id",
    ),
    (
        "an event is stored that counts as forgotten",
        "SELECT COUNT(*) FROM events e JOIN forgotten_events f ON f.user_id = e.user_id
             WHERE e.seq <= f.seq",
    ),
];

pub(super) async fn check(store: &mut Raw) -> Result<Vec<Finding>, StoreError> {
    store.begin().await?;
    let damage = store.damage().await?.into_iter();
    let mut findings: Vec<Finding> = damage.map(|problem| Finding { problem, rows: 1 }).collect();
    for (problem, sql) in RULES {
        let rows = store.number(sql).await? as u64;
        if rows > 0 {
            let problem = (*problem).to_owned();
            findings.push(Finding { problem, rows });
        }
    }
    store.commit().await?;
    Ok(findings)
}
