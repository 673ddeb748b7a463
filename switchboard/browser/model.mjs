// A model that says nothing by itself: the test speaks for it, piece by piece, and sees what it is asked.

import { once } from 'node:events';
import { createServer } from 'node:http';

export class Model {
  static async start() {
    const model = new Model();
    model.asked = [];
    model.waiting = [];
    model.server = createServer((request, response) => model.take(request, response));
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    model.env = {
      OPENAI_BASE_URL: `http://127.0.0.1:${model.server.address().port}/v1`,
      OPENAI_API_KEY: 'test',
    };
    return model;
  }

  /** The next request, once it is there. */
  async next() {
    if (this.asked.length) return this.asked.shift();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async take(request, response) {
    if (request.method !== 'POST') {
      response.end(JSON.stringify({ object: 'list', data: [] }));
      return;
    }
    let text = '';
    for await (const piece of request) text += piece;
    const turn = new Turn(JSON.parse(text), response);
    const taker = this.waiting.shift();
    if (taker) taker(turn);
    else this.asked.push(turn);
  }

  async end() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** One reply in the making. */
class Turn {
  constructor(request, response) {
    this.request = request;
    this.response = response;
    this.closed = once(response, 'close');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  }

  /** The names of the tools it was offered. */
  tools() {
    return (this.request.tools ?? []).map((tool) => tool.function.name);
  }

  say(content) {
    this.send({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] });
  }

  call(...calls) {
    const toolCalls = calls.map(([name, args], index) => ({
      index,
      id: `call_${index + 1}`,
      type: 'function',
      function: { name: this.tool(name), arguments: JSON.stringify(args) },
    }));
    this.send({
      choices: [{ index: 0, delta: { role: 'assistant', tool_calls: toolCalls }, finish_reason: null }],
    });
    this.finish('tool_calls');
  }

  /** The whole name of a tool that was offered. */
  tool(name) {
    return this.tools().find((it) => it.endsWith(`__${name}`)) ?? name;
  }

  finish(reason = 'stop') {
    this.send({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    this.send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
    this.response.end('data: [DONE]\n\n');
  }

  send(chunk) {
    this.response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-test', ...chunk })}\n\n`,
    );
  }
}
