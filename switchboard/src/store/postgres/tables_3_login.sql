-- Who may come in: what users may do, and who vouches for them at a login.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'member';
ALTER TABLE users ADD COLUMN email TEXT;
ALTER TABLE users ADD COLUMN issuer TEXT;
ALTER TABLE users ADD COLUMN subject TEXT;
ALTER TABLE users ADD COLUMN is_blocked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN uses_host BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN seen_at BIGINT;
UPDATE users SET role = 'owner' WHERE id = 'local';
CREATE UNIQUE INDEX users_by_subject ON users (issuer, subject);

-- The team's entry that a user's server follows.
ALTER TABLE mcp_servers ADD COLUMN shared_id TEXT;

-- Browsers that are logged in.
CREATE TABLE login_sessions (
    hash TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX login_sessions_by_user ON login_sessions (user_id);

-- Logins that were begun.
CREATE TABLE login_attempts (
    hash TEXT PRIMARY KEY NOT NULL,
    browser TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    return_to TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Personal access tokens.
CREATE TABLE access_tokens (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    used_at BIGINT,
    UNIQUE (user_id, name)
);
