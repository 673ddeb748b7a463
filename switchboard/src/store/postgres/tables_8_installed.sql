-- What a server was installed from.
ALTER TABLE mcp_servers ADD COLUMN installed TEXT;
