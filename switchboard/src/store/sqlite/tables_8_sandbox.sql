-- What a server's program may do, if it is started in a sandbox.
ALTER TABLE mcp_servers ADD COLUMN sandbox TEXT;
