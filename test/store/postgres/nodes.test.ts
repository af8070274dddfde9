// Several nodes, one catalog in PostgreSQL, one bucket: each answers any request, through the one that
// serves; when that stops, another one takes over and requests wait for it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { withConnection } from '../../../store/postgres/postgresConnection.ts';
import { listNodes } from '../../../store/postgres/nodeTable.ts';
import {
  fetchText,
  DATED,
  headers,
  type Killable,
  served,
} from '../../soak/crash/rounds/killable.ts';
import { endOf } from '../../soak/crash/nodes/nodeLoads.ts';
import {
  type Node,
  NODE_KEYS,
  type Nodes,
  nodesOver,
  ready,
} from '../../soak/crash/nodes/nodes.ts';
import { startCommand } from '../../cli/command.ts';
import { note } from '../../base/notes.ts';
import { startSwift } from '../../base/servers/swift.ts';
import { lakeInBucket, type LakeInBucket } from '../bucket/lakeInBucket.ts';
import { postgresHere, type PostgresHere } from './postgresHere.ts';

const [localPostgres, swift] = await Promise.all([postgresHere(), startSwift()]);
if (swift === undefined) assert.notEqual(process.env['CI'], 'true', 'Swift is not here');
const here = localPostgres as PostgresHere;
let nodes: Nodes;
let lake: LakeInBucket;

const isHere = localPostgres !== undefined && swift !== undefined;
let first: Node;
let second: Node;
let third: Node;
let fourth: Node;
beforeAll(async () => {
  if (!isHere) return;
  lake = await lakeInBucket(swift);
  const own = { TAPEDECK_DATABASE: here.url('nodes'), TAPEDECK_TRUSTED_PROXIES: '127.0.0.1' };
  nodes = nodesOver({ ...lake.settings, ...own });
  first = await nodes.start();
  await served(first.serving);
  second = await nodes.start();
  await ready(second);
  await fetchText(first.base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(second.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
}, 60_000);
afterAll(async () => {
  await nodes?.[Symbol.asyncDispose]();
  await lake?.[Symbol.asyncDispose]();
  await Promise.all([localPostgres?.[Symbol.asyncDispose](), swift?.[Symbol.asyncDispose]()]);
});

const row = (n: number): string => JSON.stringify([{ symbol: `S${n}`, day: '2024-01-01', v: n }]);

test.skipIf(!isHere)('a node that does not serve names the other one, and forwards', async () => {
  assert.equal(await ready(second), `ready: ${new URL(first.base).host} serves\n`);
  assert.equal(await (await fetch(`${second.base}/healthz`)).text(), 'ok\n');
  await fetchText(second.base, 'POST', '/data/WS/K?wait=true', row(1));
  await fetchText(second.base, 'POST', '/record/WS/K', row(2));
  for (const path of ['/data/WS/K/S1', '/data/WS/K/S2', '/datasets/WS', '/data/WS/K/NONE']) {
    assert.equal(
      await fetchText(second.base, 'GET', path),
      await fetchText(first.base, 'GET', path),
    );
  }
  const both = await Promise.all(
    [first, second].map(async ({ base }) => {
      const url = `${base}/v1/data/WS/K/S1?format=csv&token=nobody`;
      const answer = await fetch(url, { headers: { origin: 'https://a.example' } });
      const answerHeaders = [...answer.headers].filter(
        ([name]) => !/^(date|x-request-id)$/.test(name),
      );
      return { status: answer.status, answerHeaders, text: await answer.text() };
    }),
  );
  assert.deepEqual(both[1], both[0]);
  assert.equal(both[0]?.status, 403);
  const metrics = await (await fetch(`${second.base}/metrics`)).text();
  assert.match(metrics, /^tapedeck_hops_total\{outcome="answered"\} \d+$/m);
  assert.match(metrics, /^tapedeck_serving_node\{node="127\.0\.0\.1:\d+"\} 1$/m);
  const listed = await withConnection(here.settings('nodes'), (link) =>
    listNodes(link, here.settings('nodes')),
  );
  assert.deepEqual(
    listed.map(({ address, serves }) => [address, serves]),
    [
      [first.base, true],
      [second.base, false],
    ],
  );
});

test.skipIf(!isHere)('`tapedeck nodes` lists the nodes, and marks the serving one', async () => {
  const list = async (url: string): Promise<string> => {
    const { ended, output } = startCommand(['nodes'], { env: { TAPEDECK_DATABASE: url } }, []);
    await ended;
    return output.stdout + output.stderr;
  };
  const lines = (await list(here.url('nodes'))).trim().split('\n');
  assert.equal(lines.length, 2, lines.join('\n'));
  assert.match(lines[0] ?? '', new RegExp(`^\\S+: serves; \\S+ at ${first.base}, since \\d{4}-`));
  assert.match(
    lines[1] ?? '',
    new RegExp(`^\\S+: forwards; \\S+ at ${second.base}, since \\d{4}-`),
  );
  assert.equal(await list(here.url('nobody')), 'no node sent a heartbeat in the last day\n');
  assert.match(await list(''), /set TAPEDECK_DATABASE/);
});

test.skipIf(!isHere)('commands at a node that does not serve call the one that does', async () => {
  const run = async (args: readonly string[]): Promise<string> => {
    const shared = { ...lake.settings, ...NODE_KEYS, TAPEDECK_DATABASE: here.url('nodes') };
    const env = { TAPEDECK_DATA: second.folder, ...shared, TAPEDECK_FOLDER: second.folder };
    const { child, ended, output } = startCommand(args, { env }, []);
    await ended;
    assert.equal(child.exitCode, 0, `${args.join(' ')}: ${output.stdout}${output.stderr}`);
    return output.stdout;
  };
  assert.match(await run(['status']), /^jobs: 0 running/m);
  assert.match(await run(['verify-ledger']), /calls, \d+ messages/);
  const path = join(second.folder, 'command.csv');
  await writeFile(path, 'symbol,day,v\nCOMMAND,2024-01-01,41\n');
  await run(['ingest', path, '--workspace', 'WS', '--dataset', 'K']);
  const query = "SELECT v FROM K WHERE symbol = 'COMMAND'";
  assert.match(
    await run(['sql', query, '--workspace', 'WS', '--format', 'csv']),
    /^v\r?\n41\r?\n$/,
  );
});

test.skipIf(!isHere)('a forwarded request keeps its client address', async () => {
  const place = (base: string, address: string, path: string): Promise<number> =>
    fetch(`${base}/v1${path}`, { headers: { ...headers, 'x-forwarded-for': address } }).then(
      ({ status }) => status,
    );
  const createdToken = JSON.parse(
    await fetchText(
      first.base,
      'POST',
      '/account/tokens',
      '{"kind":"secret","addresses":["192.0.2.1"]}',
    ),
  ) as { readonly token: string };
  for (const [address, status] of [
    ['192.0.2.1', 200],
    ['192.0.2.2', 401],
  ] as const) {
    const path = `/data/WS/K/S1?token=${createdToken.token}`;
    assert.equal(await place(first.base, address, path), status);
    assert.equal(await place(second.base, address, path), status);
  }
});

test.skipIf(!isHere)('a body of megabytes, and a stream, pass without buffering', async () => {
  const lines = Array.from({ length: 60_000 }, (_, n) => `B${n},2024-01-01,${n}`);
  const body = `symbol,day,v\n${lines.join('\n')}\n`;
  assert.ok(body.length > 1_000_000);
  await fetchText(second.base, 'POST', '/data/WS/K?wait=true', body);
  assert.match(await fetchText(second.base, 'GET', '/data/WS/K/B59999'), /"v":59999/);
  const all = await fetchText(second.base, 'GET', '/data/WS/K?limit=100000&format=csv');
  assert.equal(all, await fetchText(first.base, 'GET', '/data/WS/K?limit=100000&format=csv'));
  const leaving = new AbortController();
  const stream = await fetch(`${second.base}/v1/stream/WS/K?keys=T1`, {
    headers,
    signal: leaving.signal,
  });
  assert.equal(stream.status, 200, stream.status === 200 ? '' : await stream.text());
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await fetchText(
    second.base,
    'POST',
    '/record/WS/K',
    '[{"symbol":"T1","day":"2024-02-02","v":7}]',
  );
  let text = '';
  while (!text.includes('"v":7')) text += (await reader?.read())?.value ?? assert.fail('it ended');
  leaving.abort();
});

interface Traffic {
  readonly acknowledged: readonly number[];
  readonly refused: readonly string[];
  readonly messages: number;
}

/** Pushes and reads through one node, until `isOver`. */
async function traffic(
  { base }: Node,
  from: number,
  acknowledged: number[],
  isOver: () => boolean,
): Promise<Omit<Traffic, 'acknowledged'>> {
  const refused: string[] = [];
  let messages = 0;
  const ask = async (path: string, method = 'GET', body?: string): Promise<boolean> => {
    const bodyOption = body === undefined ? {} : { body };
    const answer = await fetch(`${base}/v1${path}`, { method, headers, ...bodyOption });
    messages += Number(answer.headers.get('svccloud-messages-used') ?? 0);
    const text = await answer.text();
    if (answer.status !== 200) refused.push(`${method} ${answer.status} ${text}`);
    return answer.status === 200;
  };
  const pushing = async (): Promise<void> => {
    for (let n = from; !isOver(); n += 1) {
      if (await ask('/record/WS/K', 'POST', row(n))) acknowledged.push(n);
    }
  };
  const reading = async (): Promise<void> => {
    while (!isOver()) await ask('/data/WS/K/B7');
  };
  await Promise.all([pushing(), reading(), reading()]);
  return { refused, messages };
}

const usage = async (base: string): Promise<number> => {
  const { messages } = JSON.parse(await fetchText(base, 'GET', '/account/usage')) as {
    readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
  };
  return messages.keyUsage['WS.K'] ?? 0;
};

async function settled(base: string): Promise<number> {
  for (let last = -1; ;) {
    const now = await usage(base);
    if (now === last) return now;
    last = now;
    await sleep(200);
  }
}

async function during(through: Node, from: number, work: () => Promise<unknown>): Promise<Traffic> {
  let isOver = false;
  const acknowledged: number[] = [];
  const running = traffic(through, from, acknowledged, () => isOver);
  const more = async (count: number): Promise<void> => {
    const least = acknowledged.length + count;
    while (acknowledged.length < least) await sleep(20);
  };
  await more(5);
  await work();
  await more(5);
  isOver = true;
  return { ...(await running), acknowledged };
}

async function numbersOf(base: string): Promise<readonly number[]> {
  const query = encodeURIComponent('SELECT v FROM K WHERE v >= 100000');
  const text = await fetchText(base, 'GET', `/sql-query/WS?sqlQuery=${query}`);
  return (JSON.parse(text) as readonly { readonly v: number }[]).map(({ v }) => v);
}

test.skipIf(!isHere)(
  'the node that serves is stopped: not one request through another node fails',
  async (context) => {
    const before = await settled(first.base);
    let next: Killable | undefined;
    const { acknowledged, messages, refused } = await during(second, 100_000, async () => {
      const startedMs = performance.now();
      await first.serving.kill('SIGTERM');
      next = await served(second.serving);
      note(context, `the next one served ${Math.round(performance.now() - startedMs)} ms later`);
    });
    assert.deepEqual(refused, []);
    assert.equal(next?.base, second.base);
    assert.equal((await settled(second.base)) - before, messages, 'the bill is the reported sum');
    const numbers = await numbersOf(second.base);
    assert.equal(new Set(numbers).size, numbers.length, 'once each');
    for (const n of acknowledged) assert.ok(numbers.includes(n), `${n} was acknowledged`);
  },
);

test.skipIf(!isHere)(
  'the node that serves is killed: reads wait, and unrepeatable requests are reported as lost',
  async (context) => {
    third = await nodes.start();
    await ready(third);
    const { acknowledged, refused } = await during(third, 200_000, async () => {
      await second.serving.kill('SIGKILL');
      await served(third.serving);
    });
    note(context, `${acknowledged.length} pushes acknowledged, ${refused.length} unknown`);
    assert.ok(refused.length <= 1, `one push was on its way: ${refused.join('; ')}`);
    for (const refusal of refused) assert.match(refusal, /^POST 502 .*was lost before it answered/);
    const numbers = await numbersOf(third.base);
    assert.equal(new Set(numbers).size, numbers.length, 'once each');
    for (const n of acknowledged) assert.ok(numbers.includes(n), `${n} was acknowledged`);
  },
);

test.skipIf(!isHere)(
  'loads that were accepted, and had not begun, are done by the next node',
  async (context) => {
    fourth = await nodes.start();
    await ready(fourth);
    const days = Array.from({ length: 20_000 }, (_, v) => `2024-03-01,${v}`);
    const bodyOf = (n: number): string =>
      `symbol,day,v\n${days.map((day, at) => `L${n}_${at},${day}`).join('\n')}\n`;
    const accepted = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const jobText = await fetchText(fourth.base, 'POST', '/data/WS/K', bodyOf(n));
        return (JSON.parse(jobText) as { readonly jobId: string }).jobId;
      }),
    );
    await third.serving.kill('SIGKILL');
    await served(fourth.serving);
    const states = await Promise.all(accepted.map((jobId) => endOf(fourth.base, jobId)));
    note(context, states.join(', '));
    for (let n = 0; n < 6; n += 1) {
      assert.match(await fetchText(fourth.base, 'GET', `/data/WS/K/L${n}_19999`), /"v":19999/);
    }
    // Their spooled files are removed.
    while ((await lake.keys()).some((key) => key.startsWith('spool/'))) await sleep(50);
  },
);

test.skipIf(!isHere)(
  'a node that sleeps while it serves is replaced, and ends when it wakes up',
  async (context) => {
    const fifth = await nodes.start();
    await ready(fifth);
    const { acknowledged, refused } = await during(fifth, 300_000, async () => {
      const startedMs = performance.now();
      fourth.serving.child.kill('SIGSTOP');
      await served(fifth.serving);
      note(context, `the next one served after ${Math.round(performance.now() - startedMs)} ms`);
    });
    fourth.serving.child.kill('SIGCONT');
    await once(fourth.serving.child, 'exit');
    assert.match(fourth.serving.output.stderr, /another Tapedeck process h/);
    assert.ok(refused.length <= 1, `one push was on its way: ${refused.join('; ')}`);
    const numbers = await numbersOf(fifth.base);
    assert.equal(new Set(numbers).size, numbers.length, 'once each');
    for (const n of acknowledged) assert.ok(numbers.includes(n), `${n} was acknowledged`);
    fourth = fifth;
  },
);

test.skipIf(!isHere)(
  'a node that is stopped while another one serves ends immediately',
  async () => {
    const last = await nodes.start();
    assert.equal(await ready(last), `ready: ${new URL(fourth.base).host} serves\n`);
    await last.serving.kill('SIGTERM');
    assert.equal(last.serving.child.exitCode, 0);
    assert.equal(last.serving.output.stderr, '');
  },
);
