// One-time download addresses under races: each is requested by several clients concurrently, with and
// without ranges, by HEAD, late, and again. Each byte is served at most once; the download count is exact.
import assert from 'node:assert/strict';
import { LINK_LIFE_MS } from '../../../store/publications/downloadLinks.ts';
import { seeded } from '../crash/rounds/seeded.ts';
import { send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

const BODY = 'symbol,date,close\nAAPL,20240228,181.42\n';
const AT_ONCE_MAX = 12;
/** Range headers of requests. */
const RANGES = [undefined, undefined, 'bytes=0-', 'bytes=5-20', 'bytes=-9', 'bytes=nonsense'];

/** Plays `count` races; returns a summary. */
export async function downloadsLaw(count: number, seed: number): Promise<string> {
  const random = seeded(seed);
  let nowMs = Date.parse('2024-02-29T17:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  await send(server, 'PUT', '/file-types/WS/RACED', { weight: 0 });
  const place = `${server.base}/v1/file-types/WS/RACED/files?token=${server.secret}`;
  assert.equal((await fetch(place, { method: 'POST', body: BODY })).status, 200);
  let [served, late] = [0, 0];
  for (let race = 0; race < count; race += 1) {
    const linkUrl = `${server.base}/v1/files/download/RACED?token=${server.secret}`;
    const redirect = await fetch(linkUrl, { redirect: 'manual' });
    const url = server.base + (redirect.headers.get('location') ?? '');
    const isLate = random.chance(0.1);
    if (isLate) nowMs += LINK_LIFE_MS;
    const got = new Array<number>(BODY.length).fill(0);
    const ask = async (): Promise<boolean> => {
      const range = RANGES[random.between(0, RANGES.length - 1)];
      const isHead = random.chance(0.12);
      const answer = await fetch(url, {
        method: isHead ? 'HEAD' : 'GET',
        headers: range === undefined ? {} : { range },
      });
      const text = await answer.text();
      if (answer.status === 410) return false;
      assert.ok(answer.status === 200 || answer.status === 206, `${answer.status} ${text}`);
      if (isHead) return false;
      const [, from = '0'] = /^bytes (\d+)-/.exec(answer.headers.get('content-range') ?? '') ?? [];
      assert.equal(text, BODY.slice(Number(from), Number(from) + text.length));
      for (let at = 0; at < text.length; at += 1) {
        got[Number(from) + at] = (got[Number(from) + at] ?? 0) + 1;
      }
      return true;
    };
    const racers = Array.from({ length: random.between(2, AT_ONCE_MAX) }, ask);
    const wins = (await Promise.all(racers)).filter(Boolean).length;
    const again = [await ask(), await ask()].filter(Boolean).length;
    const label = `seed ${seed}, race ${race}: ${wins} and ${again} were served`;
    assert.ok(
      got.every((times) => times <= 1),
      `${label}, bytes twice`,
    );
    if (isLate) assert.equal(wins + again, 0, label);
    if (wins + again > 0) served += 1;
    else if (isLate) late += 1;
  }
  const { text } = await send(server, 'GET', '/files');
  const [type] = JSON.parse(text) as readonly [
    { readonly metadata: { readonly numberOfDownloads: number } },
  ];
  assert.equal(type.metadata.numberOfDownloads, served);
  return `${served} of ${count} addresses served a file, each byte once; ${late} were late`;
}
