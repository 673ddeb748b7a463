// The official TypeScript SDK doing the work of `client drive`: <place> <work> <in flight> <ms>.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.BENCH_NODE_MODULES + "/");
const load = (path) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + path)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const [place, work, inFlight, milliseconds] = process.argv.slice(2);
const transport =
  place === "stdio"
    ? new StdioClientTransport({ command: process.env.BENCH_SERVER, args: ["serve", "stdio"] })
    : new StreamableHTTPClientTransport(new URL(place));
const client = new Client({ name: "bench", version: "1" });
await client.connect(transport);

const check = (holds) => {
  if (!holds) throw new Error("not the reply");
};
const calls = {
  echo: async () => {
    const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    check(result.content[0].text === "hello");
  },
  list: async () => check((await client.listTools()).tools.length === 1000),
  big: async () => {
    const result = await client.callTool({ name: "big", arguments: {} });
    check(result.content[0].text.length > 1_000_000);
  },
};

// What of the memory is mapped from files: the program itself.
function mapped() {
  const found = /^RssFile:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
  return found ? Number(found[1]) : 0;
}

async function keepGoing(time) {
  const took = [];
  const until = performance.now() + time;
  const caller = async () => {
    for (let now = performance.now(); now < until; ) {
      await calls[work]();
      const then = now;
      now = performance.now();
      took.push(now - then);
    }
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, caller));
  return took.sort((a, b) => a - b);
}

await keepGoing(milliseconds / 4);
const [start, used] = [performance.now(), process.cpuUsage()];
const took = await keepGoing(Number(milliseconds));
const seconds = (performance.now() - start) / 1000;
const cpu = process.cpuUsage(used);
const at = (share) => took[Math.floor(took.length * share)] * 1000;
console.log(
  JSON.stringify({
    per_second: took.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    cpu: (cpu.user + cpu.system) / took.length,
    memory: process.resourceUsage().maxRSS,
    own: process.resourceUsage().maxRSS - mapped(),
  }),
);
process.exit(0);
