-- How often a server was stored: a change of an older one is refused.
ALTER TABLE mcp_servers ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
