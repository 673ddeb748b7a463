-- Events up to this number may have been forgotten.
CREATE TABLE forgotten_events (
    user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL
) WITHOUT ROWID;

-- An open question is found by its state.
CREATE INDEX pending_interactions_open ON pending_interactions (conversation_id) WHERE state = 'open';

-- Where in the answer's text a call stands.
ALTER TABLE tool_calls ADD COLUMN text_offset INTEGER NOT NULL DEFAULT 0;
