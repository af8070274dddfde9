// `tapedeck mcp`, started as a host of agents starts it: a process beside a running server.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { loaded } from '../base/client.ts';
import { test } from '../base/fixtures.ts';
import { startedBy } from '../base/program.ts';

const MAIN = startedBy('cli/main.ts');

test('a host starts the command, and its agent is charged for its query', async ({ server }) => {
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n');
  const client = new Client({ name: 'host', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    env: { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.publishable },
    stderr: 'pipe',
  });
  await client.connect(transport);
  try {
    const answer = await client.callTool({
      name: 'query_sql',
      arguments: { workspace: 'WS', sql: 'SELECT v FROM P' },
    });
    assert.deepEqual(answer.content, [
      { type: 'text', text: 'v\n1\n\ncost: 1 messages; left: as much as the account may spend' },
    ]);
  } finally {
    await client.close();
  }
});
