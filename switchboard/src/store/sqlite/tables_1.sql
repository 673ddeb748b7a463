-- Columns are the fields of the rows. JSON_TEXT holds JSON; moments are milliseconds since 1970.

CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL
);
INSERT INTO users (id, name) VALUES ('local', 'you');

CREATE TABLE mcp_servers (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    base_url TEXT,
    headers JSON_TEXT NOT NULL,
    timeout INTEGER,
    command TEXT,
    args JSON_TEXT NOT NULL,
    env JSON_TEXT NOT NULL,
    disabled_tools JSON_TEXT NOT NULL,
    auto_approve_tools JSON_TEXT NOT NULL,
    plain_values INTEGER NOT NULL,
    source TEXT,
    trust TEXT NOT NULL,
    cwd TEXT,
    tool_timeouts JSON_TEXT NOT NULL,
    parallel INTEGER NOT NULL,
    always_load INTEGER NOT NULL,
    env_policy TEXT NOT NULL,
    transport_seen TEXT,
    last_error TEXT,
    extra JSON_TEXT,
    sort INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (user_id, name)
);

CREATE TABLE server_tools (
    server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition JSON_TEXT NOT NULL,
    hash TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (server_id, name)
) WITHOUT ROWID;

CREATE TABLE oauth_tokens (
    issuer TEXT NOT NULL,
    server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    reference TEXT NOT NULL,
    PRIMARY KEY (server_id, issuer)
) WITHOUT ROWID;

CREATE TABLE assistants (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    model TEXT,
    system TEXT,
    mcp_mode TEXT NOT NULL,
    max_rounds INTEGER,
    approval_mode TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, name)
);

CREATE TABLE assistant_mcp_servers (
    assistant_id TEXT NOT NULL REFERENCES assistants (id) ON DELETE CASCADE,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    PRIMARY KEY (assistant_id, mcp_server_id)
) WITHOUT ROWID;
CREATE INDEX assistant_mcp_servers_by_server ON assistant_mcp_servers (mcp_server_id);

CREATE TABLE conversations (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    assistant_id TEXT REFERENCES assistants (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    parent TEXT REFERENCES conversations (id) ON DELETE SET NULL,
    options JSON_TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX conversations_by_use ON conversations (user_id, updated_at, id);
CREATE INDEX conversations_by_assistant ON conversations (assistant_id);
CREATE INDEX conversations_by_parent ON conversations (parent);

CREATE TABLE messages (
    id TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    provider_raw TEXT,
    finish TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (conversation_id, seq)
);

CREATE TABLE tool_calls (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    round INTEGER NOT NULL,
    server_id TEXT,
    server_name TEXT NOT NULL,
    tool TEXT NOT NULL,
    display_name TEXT NOT NULL,
    arguments JSON_TEXT,
    args_hash TEXT,
    status TEXT NOT NULL,
    approved_by TEXT,
    response JSON_TEXT,
    result_blob TEXT REFERENCES blobs (id) ON DELETE SET NULL,
    is_error INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    PRIMARY KEY (message_id, position)
) WITHOUT ROWID;
CREATE INDEX tool_calls_by_blob ON tool_calls (result_blob) WHERE result_blob IS NOT NULL;

CREATE TABLE blobs (
    id TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    mime TEXT NOT NULL,
    bytes BLOB NOT NULL
);
CREATE INDEX blobs_by_conversation ON blobs (conversation_id);

CREATE TABLE approval_rules (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    server_id TEXT,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    def_hash TEXT,
    read_only_hashes JSON_TEXT NOT NULL,
    decision TEXT NOT NULL,
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
);
CREATE INDEX approval_rules_by_user ON approval_rules (user_id);
CREATE INDEX approval_rules_by_conversation ON approval_rules (conversation_id);

CREATE TABLE pending_interactions (
    id TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    message_id TEXT REFERENCES messages (id) ON DELETE CASCADE,
    call_id TEXT,
    payload JSON_TEXT,
    state TEXT NOT NULL,
    answer JSON_TEXT,
    created_at INTEGER NOT NULL,
    settled_at INTEGER
);
CREATE INDEX pending_interactions_by_conversation ON pending_interactions (conversation_id);
CREATE INDEX pending_interactions_by_message ON pending_interactions (message_id);

CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id TEXT REFERENCES messages (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    round INTEGER NOT NULL,
    loop_fingerprint TEXT,
    finish TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX runs_by_conversation ON runs (conversation_id, created_at, id);
CREATE INDEX runs_by_message ON runs (message_id);
CREATE INDEX runs_unfinished ON runs (created_at, id) WHERE finish IS NULL;

CREATE TABLE usage (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    round INTEGER NOT NULL,
    model TEXT NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost_micros INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, round)
) WITHOUT ROWID;
CREATE INDEX usage_by_user ON usage (user_id, created_at);
CREATE INDEX usage_by_conversation ON usage (conversation_id);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    data JSON_TEXT,
    created_at INTEGER NOT NULL
);
CREATE INDEX events_by_user ON events (user_id, seq);
CREATE INDEX events_by_conversation ON events (conversation_id, seq);

CREATE TABLE settings (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value JSON_TEXT,
    plain_secret INTEGER NOT NULL,
    PRIMARY KEY (user_id, key)
) WITHOUT ROWID;
