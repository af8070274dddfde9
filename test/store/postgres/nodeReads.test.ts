// A node that does not serve answers reads itself, and never with a state older than one seen elsewhere.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { fetchText, headers, served } from '../../soak/crash/rounds/killable.ts';
import { type Node, startNodes } from '../../soak/crash/nodes/nodes.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';

const isHere = await hasServers('postgres', 'swift');
const skip = isLeftOut(isHere);
let here: Awaited<ReturnType<typeof startNodes>>;
let first: Node;
let second: Node;
beforeAll(async () => {
  if (skip) return;
  here = await startNodes(2, {});
  [first, second] = here.living as [Node, Node];
}, 60_000);
afterAll(() => here?.[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
/** The nth day is the latest: `last=1` returns it. */
const row = (n: number): string =>
  JSON.stringify([{ symbol: 'S', day: new Date(n * DAY_MS).toISOString().slice(0, 10), v: n }]);

/** Requests that the second node answered itself. */
async function readsHere(): Promise<number> {
  const metrics = await (await fetch(`${second.base}/metrics`)).text();
  const counts = [...metrics.matchAll(/^tapedeck_requests_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function newest({ base }: Node): Promise<number> {
  const text = await fetchText(base, 'GET', '/data/WS/K/S?last=1');
  return (JSON.parse(text) as readonly { readonly v: number }[])[0]?.v ?? 0;
}

/** Waits until the other node answers reads itself. */
async function readHere(): Promise<void> {
  for (const before = await readsHere(); (await readsHere()) === before; await sleep(20)) {
    await newest(second);
  }
}

test.skipIf(skip)('records written through one node are read through the other', async () => {
  await fetchText(first.base, 'POST', '/data/WS/K?wait=true', row(1));
  await readHere();
  const before = await readsHere();
  for (let n = 2; n <= 40; n += 1) {
    const [to, from] = n % 2 === 0 ? [first, second] : [second, first];
    const load = n % 10 === 0;
    await fetchText(to.base, 'POST', load ? '/data/WS/K?wait=true' : '/record/WS/K', row(n));
    for (const node of [from, to]) assert.equal(await newest(node), n);
  }
  assert.ok((await readsHere()) - before >= 20, 'most reads of the second node are its own');
  const answers = await Promise.all(
    [first, second].map(async ({ base }) => {
      const answer = await fetch(`${base}/v1/data/WS/K/S?last=3`, { headers });
      const answerHeaders = [...answer.headers].filter(
        ([name]) => !/^(date|x-request-id)$/.test(name),
      );
      return { answerHeaders: Object.fromEntries(answerHeaders), text: await answer.text() };
    }),
  );
  assert.deepEqual(answers[1], answers[0]);
});

/** Reads and writes of all nodes, each checked against the latest value before it began. */
function watching(): {
  readonly read: (node: Node) => Promise<void>;
  readonly write: (node: Node, n: number) => Promise<void>;
  readonly seen: () => number;
} {
  let least = 0;
  return {
    read: async (node) => {
      const leastBefore = least;
      const latest = await newest(node);
      assert.ok(latest >= leastBefore, `${latest} was read after ${leastBefore} was there`);
      least = Math.max(least, latest);
    },
    write: async ({ base }, n) => {
      await fetchText(base, 'POST', n % 7 === 0 ? '/data/WS/K?wait=true' : '/record/WS/K', row(n));
      least = Math.max(least, n);
    },
    seen: () => least,
  };
}

test.skipIf(skip)('no read is older than any value that was seen before', async () => {
  const { read, seen, write } = watching();
  const before = await readsHere();
  let n = 100;
  let isOver = false;
  const reading = async (node: Node): Promise<void> => {
    // Leaves processor time to other processes.
    for (; !isOver; await sleep(10)) await read(node);
  };
  const readers = [first, second, first, second].map(reading);
  while (n < 160) await write(n % 3 === 0 ? second : first, (n += 1));
  // The node sleeps: a write waits until its lease has ended.
  second.serving.child.kill('SIGSTOP');
  for (const until = n + 3; n < until;) await write(first, (n += 1));
  second.serving.child.kill('SIGCONT');
  await read(second);
  await readHere();
  while (n < 180) await write(first, (n += 1));
  isOver = true;
  await Promise.all(readers);
  assert.equal(await newest(second), n);
  assert.equal(seen(), n);
  assert.ok((await readsHere()) - before > 20, 'the second node answered itself');
});

test.skipIf(skip)('each node answers its queries itself, over the stored records', async () => {
  await fetchText(first.base, 'POST', '/data/WS/Q?wait=true', row(1));
  const sql = async ({ base }: Node, text: string): Promise<string> => {
    const url = `${base}/v1/sql-query/WS?sqlQuery=${encodeURIComponent(text)}`;
    const answer = await fetch(url, { headers });
    return `${answer.status} ${(await answer.text()).replaceAll(/[A-F0-9]{14}/g, 'ID')}`;
  };
  const count = 'SELECT count(*) AS n, max(v) AS v FROM Q';
  for (const before = await readsHere(); (await readsHere()) === before; await sleep(20)) {
    await sql(second, count);
  }
  for (let n = 2; n < 20; n += 1) {
    const load = n % 6 === 0;
    await fetchText(first.base, 'POST', load ? '/data/WS/Q?wait=true' : '/record/WS/Q', row(n));
    assert.equal(await sql(second, count), `200 [{"n":${n},"v":${n}}]`);
    const least = Math.floor(n / 2);
    const query = `SELECT symbol, day, v FROM Q WHERE v > ${least}`;
    await fetchText(first.base, 'POST', '/views/WS/LATE', JSON.stringify({ view: { query } }));
    assert.equal(
      await sql(second, 'SELECT count(*) AS n FROM LATE'),
      `200 [{"n":${n - least}}]`,
      'a view is the latest one',
    );
  }
  for (const text of [
    'SHOW TABLES',
    'DESCRIBE Q',
    'SELECT * FROM NOWHERE',
    'SELECT nothing FROM Q',
    "SELECT count(*) > 0 AS some FROM _SYSTEM.LOGS WHERE severity = 'info'",
    'SELECT table_name FROM information_schema.tables ORDER BY 1',
    'DROP TABLE Q',
  ]) {
    assert.equal(await sql(second, text), await sql(first, text), text);
  }
});

test.skipIf(skip)('the rights of a token change at all nodes immediately', async () => {
  const answer = await fetchText(first.base, 'POST', '/account/tokens', '{"kind":"secret"}');
  const { token, tokenId: id } = JSON.parse(answer) as Readonly<Record<string, string>>;
  const status = async (): Promise<number> =>
    (await fetch(`${second.base}/v1/data/WS/K/S?last=1&token=${token}`)).status;
  for (const before = await readsHere(); (await readsHere()) < before + 2; await sleep(20)) {
    assert.equal(await status(), 200);
  }
  for (let turn = 0; turn < 5; turn += 1) {
    await fetchText(first.base, 'PATCH', `/account/tokens/${id}`, '{"disabled":true}');
    assert.equal(await status(), 403);
    await fetchText(second.base, 'PATCH', `/account/tokens/${id}`, '{"disabled":false}');
    assert.equal(await status(), 200);
  }
});

test.skipIf(skip)(
  'a dataset that is dropped and created again is the same as on the serving node',
  async () => {
    await fetchText(first.base, 'POST', '/data/WS/GONE?wait=true', row(1));
    const read = async ({ base }: Node): Promise<string> =>
      (await fetch(`${base}/v1/data/WS/GONE?last=5`, { headers })).text();
    for (let turn = 2; turn < 5; turn += 1) {
      for (const before = await readsHere(); (await readsHere()) === before; await sleep(20)) {
        assert.equal(await read(second), await read(first));
      }
      await fetchText(first.base, 'DELETE', '/datasets/WS/GONE');
      assert.match(await read(second), /not found/i);
      await fetchText(second.base, 'POST', '/data/WS/GONE?wait=true', row(turn));
      assert.equal(await read(second), await read(first));
    }
  },
);

test.skipIf(skip)('no node keeps copies of deleted files', async () => {
  await fetchText(first.base, 'POST', '/data/WS/SECRET?wait=true', row(1));
  const copies = (): readonly string[] =>
    globSync(join(second.folder, '{reading,lent}/lake/WS/SECRET/*.parquet'));
  for (; copies().length === 0; await sleep(20)) {
    await fetchText(second.base, 'GET', '/data/WS/SECRET?last=1&cache=false');
  }
  await fetchText(first.base, 'DELETE', '/datasets/WS/SECRET?purge=true');
  for (const until = Date.now() + 5_000; copies().length > 0; await sleep(20)) {
    assert.ok(Date.now() < until, `${copies().join(', ')} are there`);
  }
});

test.skipIf(skip)('the bill is the sum of the reported messages, from any node', async () => {
  await fetchText(first.base, 'POST', '/data/WS/BILL?wait=true', row(1));
  const used = async (): Promise<number> => {
    const usage = JSON.parse(await fetchText(first.base, 'GET', '/account/usage')) as Usage;
    return usage.messages.monthlyUsage;
  };
  const countMessages = async ({ base }: Node): Promise<number> => {
    const answer = await fetch(`${base}/v1/data/WS/BILL?last=1`, { headers });
    await answer.arrayBuffer();
    assert.ok(answer.status === 200 || answer.status === 429, `${answer.status}`);
    return Number(answer.headers.get('svccloud-messages-used') ?? 0);
  };
  await sleep(500);
  const before = await used();
  const hereBefore = await readsHere();
  let sum = 0;
  for (let n = 0; n < 300; n += 1) sum += await countMessages(n % 3 === 0 ? first : second);
  assert.ok((await readsHere()) - hereBefore > 100, 'the second node answered itself');
  for (const until = Date.now() + 5_000; (await used()) !== before + sum; await sleep(50)) {
    assert.ok(Date.now() < until, `${await used()} used, ${before + sum} reported`);
  }
});

test.skipIf(skip)(
  'deliveries of a node are charged even though the serving one is killed',
  async () => {
    const used = async (): Promise<number> => {
      const usage = JSON.parse(await fetchText(second.base, 'GET', '/account/usage')) as Usage;
      return usage.messages.monthlyUsage;
    };
    const countMessages = async (): Promise<number> => {
      const answer = await fetch(`${second.base}/v1/data/WS/BILL?last=1`, { headers });
      await answer.arrayBuffer();
      assert.equal(answer.status, 200);
      return Number(answer.headers.get('svccloud-messages-used'));
    };
    for (let calm = 0; calm < 20;) {
      const here = await readsHere();
      await countMessages();
      calm = (await readsHere()) === here ? 0 : calm + 1;
    }
    // Each was reported and is in the catalog.
    await sleep(1_000);
    const [before, here] = [await used(), await readsHere()];
    const messages = await Promise.all(Array.from({ length: 30 }, countMessages));
    const own = (await readsHere()) - here;
    await first.serving.kill('SIGKILL');
    await served(second.serving);
    const sum = messages.reduce((total, one) => total + one, 0);
    const charged = (await used()) - before;
    assert.ok(own > 0 && charged >= own && charged <= sum, `${charged} of ${sum}, ${own} its own`);
  },
);

interface Usage {
  readonly messages: { readonly monthlyUsage: number };
}
