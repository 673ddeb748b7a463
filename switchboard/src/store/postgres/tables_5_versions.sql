-- The number of the message that a message follows, so that one can have several versions, and whether
-- another version is shown in its place.
ALTER TABLE messages ADD COLUMN follows BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN is_aside BIGINT NOT NULL DEFAULT 0;
UPDATE messages SET follows = COALESCE((SELECT MAX(earlier.seq) FROM messages AS earlier
    WHERE earlier.conversation_id = messages.conversation_id AND earlier.seq < messages.seq), 0);
