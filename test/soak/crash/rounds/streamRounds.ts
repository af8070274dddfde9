// kill -9 while streams are open: streams that ended before are charged exactly; streams that were open are
// charged at most what was sent. No undelivered message is charged, over all rounds of one folder.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStream, until } from '../../../api/streams/listening.ts';
import { fetchText, DATED, type Killable, killable } from './killable.ts';
import { type Seeded, seeded } from './seeded.ts';

interface StreamKills {
  readonly kills: number;
  readonly readers: number;
  /** Records of one round before the kill; each is a message to each reader. */
  readonly records: number;
  readonly seed: number;
}

/** Longer than the settle window of the ledger. */
const GATHERED_MS = 300;
const BATCH_RECORDS = 20;

type Reader = Awaited<ReturnType<typeof openStream>>;
interface Follower {
  readonly reader: Reader;
  /** Records that were pushed before it connected. */
  readonly from: number;
}
type Usage = { readonly messages: { readonly keyUsage: Readonly<Record<string, number>> } };

const got = (reader: Reader): number => reader.text().split('\r\n\r\n').length - 1;
const sumOf = (readers: readonly Reader[]): number =>
  readers.reduce((sum, reader) => sum + got(reader), 0);

interface Bounds {
  /** Messages of streams that had ended, so far. */
  readonly least: number;
  /** Messages that all readers received, so far. */
  readonly most: number;
}

/** @returns a summary. @throws AssertionError. */
export async function streamRounds(order: StreamKills): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-kill-streams-'));
  const children: ChildProcess[] = [];
  const random = seeded(order.seed);
  let bounds: Bounds = { least: 0, most: 0 };
  let charged = 0;
  try {
    for (let round = 0; round < order.kills; round += 1) {
      const server = await killable(join(folder, 'data'), children);
      if (round === 0) {
        await fetchText(server.base, 'POST', '/workspaces', '{"name":"WS"}');
        await fetchText(server.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
      } else charged = await judged(server, bounds, order.seed, round);
      const { least, most } = await killed(server, order, round, random);
      // The charges of earlier rounds are final: only those of this round are still open.
      bounds = { least: Math.max(bounds.least, charged) + least, most: bounds.most + most };
    }
    const last = await killable(join(folder, 'data'), children);
    charged = await judged(last, bounds, order.seed, order.kills);
    await last.kill();
    return `seed ${order.seed}: ${order.kills} kills, ${charged} charged of ${bounds.most} messages`;
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Checks the charges after a restart against their bounds; returns them. */
async function judged(
  { base }: Killable,
  { least, most }: Bounds,
  seed: number,
  round: number,
): Promise<number> {
  const usage = JSON.parse(await fetchText(base, 'GET', '/account/usage')) as Usage;
  const charged = usage.messages.keyUsage['WS.K'] ?? 0;
  const summary = `seed ${seed}, after kill ${round}: ${charged} charged`;
  assert.ok(charged >= least, `${summary}, ${least} of ended streams`);
  assert.ok(charged <= most, `${summary}, ${most} received`);
  return charged;
}

/** Readers connect and disconnect while records are pushed; then the server is killed. */
async function killed(
  server: Killable,
  { readers, records }: StreamKills,
  round: number,
  random: Seeded,
): Promise<Bounds> {
  let pushed = 0;
  const push = (size: number): Promise<string> => {
    const body = Array.from({ length: size }, (_, at) => {
      const v = round * 1_000_000 + pushed + at;
      return { symbol: `S${v}`, day: '2024-01-01', v };
    });
    pushed += size;
    return fetchText(server.base, 'POST', '/record/WS/K', JSON.stringify(body));
  };
  const follow = async (more = ''): Promise<Follower> => ({
    reader: await openStream(server, `/stream/WS/K?ids=true${more}`),
    from: pushed,
  });
  const open = await Promise.all(Array.from({ length: readers }, () => follow()));
  const ended: Reader[] = [];
  /** Closes one reader once it has all pushed records; returns the id of its last message. */
  const end = async (): Promise<string | undefined> => {
    const [one] = open.splice(random.between(0, open.length - 1), 1);
    if (one === undefined) return undefined;
    await until(() => got(one.reader) >= pushed - one.from);
    await one.reader.close();
    ended.push(one.reader);
    return lastId(one.reader.text());
  };
  while (pushed < records) {
    await push(BATCH_RECORDS);
    if (!random.chance(0.5)) continue;
    const id = await end();
    open.push(await follow(id === undefined ? '' : `&resumeFrom=${id}`));
  }
  await until(() => open.every(({ reader, from }) => got(reader) === pushed - from));
  for (let at = Math.floor(open.length / 2); at > 0; at -= 1) await end();
  await sleep(GATHERED_MS);
  const least = sumOf(ended);
  const more = Array.from({ length: 20 }, () => push(1).catch(() => undefined));
  await sleep(random.between(1, 60));
  await server.kill();
  await Promise.all(more);
  await until(() => open.every(({ reader }) => reader.isEnded()));
  return { least, most: least + sumOf(open.map(({ reader }) => reader)) };
}

function lastId(text: string): string | undefined {
  const at = text.lastIndexOf('id: ');
  return at === -1 ? undefined : text.slice(at + 4, text.indexOf('\r\n', at));
}
