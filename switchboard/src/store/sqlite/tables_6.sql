-- What an assistant's model does when an answer reaches a limit.
ALTER TABLE assistants ADD COLUMN on_limit TEXT;
