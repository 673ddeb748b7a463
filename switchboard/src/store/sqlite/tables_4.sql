-- Which servers an assistant uses, and how its model calls tools, are two things.
ALTER TABLE assistants RENAME COLUMN mcp_mode TO tool_selection;
ALTER TABLE assistants ADD COLUMN mcp_mode TEXT;
