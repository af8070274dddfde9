// Flips bits in files of the lake, one at a time: every request is answered as before, or with 500 and a
// sentence about damage. If even the file's date is unchanged, a check of all files finds the damage.
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { get, loaded, read, send } from '../../base/client.ts';
import { seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

interface RotReport {
  readonly failures: readonly string[];
  readonly flips: number;
  /** Answers that were unchanged, since they did not need the file. */
  readonly right: number;
  readonly damaged: number;
  /** Flips that kept size and date, found by the check. */
  readonly unseen: number;
}

const SYMBOLS = ['A', 'B', 'C', 'D'];
const DAYS = 60;
const csv = (symbol: string, add: number): string => {
  const rows = Array.from({ length: DAYS }, (_, at) => {
    const date = new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10);
    return `${symbol},${date},${at * 1.5 + add},note ${at % 7}\n`;
  });
  return `symbol,date,price,note\n${rows.join('')}`;
};

const sql = (text: string): string => `/sql-query/WS?sqlQuery=${encodeURIComponent(text)}`;

const DOORS: readonly [string, ...string[]] = [
  '/data/WS/D?limit=400',
  ...SYMBOLS.map((symbol) => `/data/WS/D/${symbol}?last=30`),
  '/data/WS/D?limit=500&format=csv',
  '/data/WS/D/B?from=2020-01-05&to=2020-02-01&format=psv',
  '/data/WS/D?limit=300&asOf=5',
  '/time-series/WS.D/C?last=12',
  sql('SELECT count(*) AS n, sum(price) AS s, min(note) AS m FROM D'),
  sql("SELECT * FROM D WHERE symbol = 'D' ORDER BY date"),
  sql('SELECT symbol, max(price) AS p FROM D GROUP BY symbol ORDER BY symbol'),
];

/** Creates files of several kinds: plain ones, one with deleted records, one that replaced another. */
async function fill(server: TestServer): Promise<void> {
  for (const symbol of SYMBOLS) {
    await loaded(server, 'D', csv(symbol, 0), { key: 'symbol', date: 'date' });
  }
  await loaded(server, 'D', csv('B', 1).split('\n').slice(0, 9).join('\n'), {
    duplicateKeyHandling: 'replace',
  });
  const deletion = await send(server, 'DELETE', '/data/WS/D/C?to=2020-01-03');
  if (deletion.status !== 200) throw new Error(deletion.text);
}

export async function rotLaw(flips: number, seed: number): Promise<RotReport> {
  const random = seeded(seed);
  await using server = await startServer({ seams: { watch: false } });
  await fill(server);
  const lake = join(server.folder, 'lake');
  const [first = '', ...others] = (await readdir(lake, { recursive: true }))
    .filter((name) => name.endsWith('.parquet'))
    .sort();
  const truth = new Map<string, string>();
  for (const door of DOORS) truth.set(door, await read(server, door));
  const failures: string[] = [];
  const tally = { flips, right: 0, damaged: 0, unseen: 0 };
  for (let n = 0; n < flips; n += 1) {
    const path = join(lake, random.pick([first, ...others]));
    const bytes = await readFile(path);
    const before = await stat(path);
    const at = random.between(0, bytes.length - 1);
    const bit = 1 << random.between(0, 7);
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ bit;
    const place = `seed ${seed}, flip ${n} of bit ${bit} at ${at} in ${path.slice(lake.length)}`;
    if (random.chance(0.1)) {
      failures.push(...(await unseen(server, path, before.mtimeMs, { bytes, damaged }, place)));
      tally.unseen += 1;
      continue;
    }
    await writeFile(path, damaged);
    const door = random.pick(DOORS);
    const answer = await get(server, door);
    const text = await answer.text();
    if (answer.status === 200 && text === truth.get(door)) tally.right += 1;
    else if (answer.status === 500 && /is damaged|instead of/.test(text)) tally.damaged += 1;
    else failures.push(`${place}: ${door} answers ${answer.status} ${text.slice(0, 200)}`);
    await writeFile(path, bytes);
  }
  for (const door of DOORS) {
    const text = await (await get(server, door)).text();
    if (text !== truth.get(door))
      failures.push(`seed ${seed}: ${door} differs after all is healed`);
  }
  return { failures, ...tally };
}

/** Whole seconds, to which a file date can be set exactly, repeatedly. */
const whole = (ms: number): number => Math.floor(ms / 1_000);

async function unseen(
  { tapedeck }: TestServer,
  path: string,
  mtimeMs: number,
  { bytes, damaged }: { readonly bytes: Buffer; readonly damaged: Buffer },
  place: string,
): Promise<readonly string[]> {
  const { fileCheck } = tapedeck.services;
  const second = whole(mtimeMs) - 1;
  await utimes(path, second, second);
  const sound = await fileCheck.checkAll();
  await writeFile(path, damaged);
  await utimes(path, second, second);
  const damagedVerdict = await fileCheck.checkAll();
  await writeFile(path, bytes);
  const healed = await fileCheck.checkAll();
  const counts = [sound, damagedVerdict, healed].map((verdict) => verdict.damaged.length).join();
  return counts === '0,1,0' ? [] : [`${place}: checks before, with and after it found ${counts}`];
}
