-- `trusted` meant that a server may start. What it says about its tools counts only where the user
-- says so.
UPDATE mcp_servers SET trust = 'allowed' WHERE trust = 'trusted';

-- Approvals are bound to the endpoint they were given for. Those given before it was kept are
-- asked for anew.
ALTER TABLE approval_rules ADD COLUMN server_identity TEXT;
DELETE FROM approval_rules WHERE decision = 'allow';

-- Definitions of tools that count as approved: as people last approved them (`pinned`), or as tools
-- that a server's settings approve were first seen (`auto_approved`).
CREATE TABLE approved_definitions (
    server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    server_identity TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (server_id, tool, kind)
) WITHOUT ROWID;

-- What is confirmed is the digest of the question.
ALTER TABLE tool_calls DROP COLUMN args_hash;
-- Why a call waits for its turn at its server.
ALTER TABLE tool_calls ADD COLUMN queued TEXT;
