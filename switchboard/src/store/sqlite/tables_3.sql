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

-- Order comes from counters that the store gives out, never from clocks. Rows that are there keep
-- the order in which they were inserted.
ALTER TABLE runs ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET seq = rowid;
DROP INDEX runs_by_conversation;
DROP INDEX runs_unfinished;
CREATE INDEX runs_by_conversation ON runs (conversation_id, seq);
CREATE INDEX runs_unfinished ON runs (seq) WHERE finish IS NULL;
CREATE INDEX runs_by_seq ON runs (seq);
CREATE TRIGGER runs_are_counted AFTER INSERT ON runs BEGIN
    UPDATE runs SET seq = (SELECT MAX(seq) + 1 FROM runs) WHERE rowid = NEW.rowid;
END;

ALTER TABLE approval_rules ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE approval_rules SET seq = rowid;
CREATE INDEX approval_rules_by_seq ON approval_rules (seq);
CREATE TRIGGER approval_rules_are_counted AFTER INSERT ON approval_rules BEGIN
    UPDATE approval_rules SET seq = (SELECT MAX(seq) + 1 FROM approval_rules)
        WHERE rowid = NEW.rowid;
END;

ALTER TABLE pending_interactions ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE pending_interactions SET seq = rowid;
CREATE INDEX pending_interactions_by_seq ON pending_interactions (seq);
CREATE TRIGGER pending_interactions_are_counted AFTER INSERT ON pending_interactions BEGIN
    UPDATE pending_interactions SET seq = (SELECT MAX(seq) + 1 FROM pending_interactions)
        WHERE rowid = NEW.rowid;
END;

-- Counts how conversations are used. What was used before the counter was, is ordered by its clock.
ALTER TABLE conversations ADD COLUMN use_seq INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET use_seq = ordered.number FROM
    (SELECT id, ROW_NUMBER() OVER (ORDER BY updated_at, rowid) AS number FROM conversations)
        AS ordered
    WHERE conversations.id = ordered.id;
DROP INDEX conversations_by_use;
CREATE INDEX conversations_by_use ON conversations (user_id, use_seq);
CREATE INDEX conversations_by_use_seq ON conversations (use_seq);
CREATE TRIGGER conversations_are_counted AFTER INSERT ON conversations BEGIN
    UPDATE conversations SET use_seq = (SELECT MAX(use_seq) + 1 FROM conversations)
        WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER conversations_are_used AFTER UPDATE OF updated_at ON conversations
WHEN NEW.updated_at <> OLD.updated_at BEGIN
    UPDATE conversations SET use_seq = (SELECT MAX(use_seq) + 1 FROM conversations)
        WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER messages_are_uses AFTER INSERT ON messages BEGIN
    UPDATE conversations SET use_seq = (SELECT MAX(use_seq) + 1 FROM conversations)
        WHERE id = NEW.conversation_id;
END;

-- Who moves a conversation on. A challenge stands until its holder renews the lease.
CREATE TABLE leases (
    conversation_id TEXT PRIMARY KEY NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    holder TEXT NOT NULL,
    challenged_at INTEGER
) WITHOUT ROWID;
