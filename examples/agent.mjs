// An agent without a model: the calls that a host of the Model Context Protocol makes for one, with a budget.
//
//   npm install @modelcontextprotocol/sdk
//   TAPEDECK_URL=http://127.0.0.1:8080 TAPEDECK_TOKEN=pk_… node agent.mjs
import { env } from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const base = env.TAPEDECK_URL ?? 'http://127.0.0.1:8080';
const workspace = env.TAPEDECK_WORKSPACE ?? 'MINE';
const headers = { authorization: `Bearer ${env.TAPEDECK_TOKEN}` };

const client = new Client({ name: 'example', version: '1.0.0' });
const url = new URL('/mcp', base);
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));

async function use(name, input) {
  const { content } = await client.callTool({ name, arguments: input });
  process.stdout.write(`${name}: ${content.map(({ text }) => text).join('\n')}\n\n`);
}

const sql = 'SELECT symbol, max(close) AS highest FROM PRICES GROUP BY symbol ORDER BY symbol';
await use('search_datasets', { query: 'prices' });
await use('estimate_cost', { workspace, sql });
await use('query_sql', { workspace, sql, maxMessages: 10 });
await use('allowance', {});
await client.close();
