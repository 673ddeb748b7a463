// The official TypeScript SDK's server: server.mjs serve stdio|http.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.BENCH_SERVER_MODULES + "/");
const load = (path) => import(pathToFileURL(require.resolve("@modelcontextprotocol/" + path)));
const { Server } = await load("server");

const tool = (number) => ({
  name: `tool_${number}`,
  description: `Does what tool number ${number} is there for, and tells about it.`,
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Where to look." },
      depth: { type: "integer", minimum: 0, maximum: 100, default: 3 },
      kind: { type: "string", enum: ["file", "folder", "link"] },
      options: { type: "object", properties: { follow: { type: "boolean" } } },
    },
    required: ["path"],
  },
  annotations: { readOnlyHint: true, title: `Tool ${number}` },
});
const echo = {
  name: "echo",
  description: "Echoes its argument.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};
const tools = [echo, ...Array.from({ length: 999 }, (_, at) => tool(at + 1))];

function server() {
  const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", (request) => ({
    content: [{ type: "text", text: request.params.arguments.text }],
  }));
  return server;
}

if (process.argv[3] === "stdio") {
  const { StdioServerTransport } = await load("server/stdio");
  await server().connect(new StdioServerTransport());
} else {
  const { NodeStreamableHTTPServerTransport } = await load("node");
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await server().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
