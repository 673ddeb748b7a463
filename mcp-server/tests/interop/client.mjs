// The official TypeScript client against our server: `client.mjs MODULES URL|PROGRAM legacy|modern|sse`.
import { pathToFileURL } from 'node:url';

const [modules, target, era] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${modules}/@modelcontextprotocol/client/${file}`).href);
const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await load('dist/index.mjs');

const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
const client = new Client(
  { name: 'interop', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} }, versionNegotiation: { mode } },
);
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ann', ok: true } }));
client.setRequestHandler('sampling/createMessage', async () => ({
  role: 'assistant',
  content: { type: 'text', text: 'hi' },
  model: 'm',
}));
client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///tmp' }] }));

let transport;
if (era === 'sse') {
  transport = new SSEClientTransport(new URL(target));
} else if (target.startsWith('http')) {
  transport = new StreamableHTTPClientTransport(new URL(target));
} else {
  const { StdioClientTransport } = await load('dist/stdio.mjs');
  transport = new StdioClientTransport({ command: target });
}
await client.connect(transport);

const out = [];
const tools = (await client.listTools()).tools;
out.push(['tools', tools.length > 0]);
const call = async (name, args = {}) => {
  const result = await client.callTool({ name, arguments: args });
  out.push([name, result.isError === true ? 'error' : result.content[0].text]);
};
if (tools.some((tool) => tool.name === 'add')) {
  await call('add', { a: 2, b: 3 });
} else {
  await call('test_simple_text');
  await call('test_error_handling');
  await call('test_header_parameter', { region: 'é' });
  await call('test_input_required_result_elicitation');
  await call('test_input_required_result_list_roots');
  const read = await client.readResource({ uri: 'test://template/7/data' });
  out.push(['resource', read.contents[0].text]);
  const prompt = await client.getPrompt({
    name: 'test_prompt_with_arguments',
    arguments: { arg1: 'a', arg2: 'b' },
  });
  out.push(['prompt', prompt.messages[0].content.text]);
}
await client.close();
console.log(JSON.stringify(out));
process.exit(0);
