-- Says that the file is ours: "swbd". A file of another program is left alone.
PRAGMA application_id = 0x73776264;

-- What was appended to a message since it was last written whole.
CREATE TABLE message_chunks (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (message_id, number)
) WITHOUT ROWID;
