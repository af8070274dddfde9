// Real captures replayed through the streams: clients receive the messages of the file, one by one.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCapture } from '../../../market/capture/capture.ts';
import { LiveBoard } from '../../../market/live/liveBoard.ts';
import { send } from '../../base/client.ts';
import { openStream, until } from '../../api/streams/listening.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data');
const [TOPS, DEEP] = ['TOPS16.pcapng.gz', 'DEEP10.pcap.gz'] as const;
const isThere = [TOPS, DEEP].every((name) => existsSync(join(DATA, name)));
const real = describe.skipIf(!isThere && process.env['CI'] !== 'true');

let folder = '';
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-played-'));
  await writeFile(join(folder, 'text.pcap'), 'symbol,price\nA,1\n');
  await symlink('/etc/hostname', join(folder, 'out.pcap'));
  server = await startServer({ settings: { TAPEDECK_SOURCE_FOLDER: folder } });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The messages of a topic when a file is played to a separate board. */
async function readTopic(
  file: string,
  topic: string,
  symbol?: string,
): Promise<readonly unknown[]> {
  const messages: unknown[] = [];
  const board = new LiveBoard((of, about, make) => {
    if (of !== topic || (symbol !== undefined && about !== symbol)) return;
    const json = make();
    if (json !== undefined) messages.push(JSON.parse(json));
  });
  await readCapture(join(DATA, file), (tick) => board.apply(tick));
  return messages;
}

interface TimedMessage {
  readonly symbol: string;
  readonly time: number;
}

const bare = ({ seq: _, ...message }: Readonly<Record<string, unknown>>): object => message;

/** The messages of the symbol with the most trades, of those whose trades are in order of time. */
function inOrder(
  all: readonly TimedMessage[],
): readonly (TimedMessage & Readonly<Record<string, unknown>>)[] {
  const bySymbol = Object.values(Object.groupBy(all, ({ symbol }) => symbol));
  const ordered = bySymbol.filter((own = []) =>
    own.every(({ time }, at) => at === 0 || (own[at - 1]?.time ?? 0) <= time),
  );
  const [most = []] = ordered.toSorted((one = [], other = []) => other.length - one.length);
  assert.ok(most.length > 5);
  return most.map((one) => ({ ...one }));
}

async function play(body: object): Promise<string> {
  const { status, text } = await send(server, 'POST', '/replays', { ...body, paused: true });
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { replayId: string }).replayId;
}

const change = (id: string, body: object): Promise<unknown> =>
  send(server, 'PATCH', `/replays/${id}`, body);

real('a replay at maximum speed', () => {
  for (const [file, topic] of [
    [TOPS, 'tops'],
    [TOPS, 'last'],
    [DEEP, 'last'],
  ] as const) {
    test(`${topic} of ${file}`, async () => {
      await copyFile(join(DATA, file), join(folder, file));
      const expected = await readTopic(file, topic);
      expect(expected.length).toBeGreaterThan(100);
      const id = await play({ capture: file, speed: 'max' });
      const stream = await openStream(server, `/replays/${id}/${topic}?nosnapshot=true`);
      await change(id, { state: 'playing' });
      await until(() => stream.messages().length >= expected.length);
      expect(stream.messages()).toEqual(expected);
      await stream.close();
      await send(server, 'DELETE', `/replays/${id}`);
    });
  }

  test('some symbols, from a time on, and again from the beginning', async () => {
    await copyFile(join(DATA, TOPS), join(folder, TOPS));
    const all = (await readTopic(TOPS, 'last')) as readonly TimedMessage[];
    const own = inOrder(all);
    const symbol = own[0]?.symbol ?? '';
    const id = await play({ capture: TOPS, symbols: [symbol], speed: 'max' });
    const stream = await openStream(server, `/replays/${id}/last?nosnapshot=true`);
    const at = own[Math.floor(own.length / 2)]?.time ?? 0;
    await change(id, { seek: at });
    await change(id, { state: 'playing' });
    const tail = own.filter(({ time }) => time >= at);
    await until(() => stream.messages().length >= tail.length);
    // Messages are numbered within the replay.
    expect(stream.messages().map(bare)).toEqual(tail.map(bare));
    await change(id, { seek: 0, state: 'playing' });
    await until(() => stream.messages().length >= tail.length + own.length);
    expect(stream.messages().slice(tail.length).map(bare)).toEqual(own.map(bare));
    await stream.close();
    await send(server, 'DELETE', `/replays/${id}`);
  });
});

test('invalid replays are refused', async () => {
  const refused = async (body: object): Promise<readonly [number, string]> => {
    const { status, text } = await send(server, 'POST', '/replays', body);
    return [status, text];
  };
  expect(await refused({ capture: 'nothing.pcap' })).toEqual([
    400,
    expect.stringMatching(/nothing.pcap is not there/),
  ]);
  expect((await refused({ capture: '../secret' }))[1]).toMatch(/without \. and \.\./);
  expect((await refused({ capture: '*.pcap' }))[1]).toMatch(/the path must name one file/);
  expect((await refused({ capture: 'out.pcap' }))[1]).toMatch(/leads out/);
  expect((await refused({ capture: 'text.pcap' }))[0]).toBe(404);
  expect((await refused({ capture: 'text.pcap', from: '2024-01-02' }))[0]).toBe(400);
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('other', 'scale');
  const { text: token } = await accounts.createToken(accountId, 'secret');
  const answer = await fetch(`${server.base}/v1/replays?token=${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"capture":"text.pcap"}',
  });
  expect(answer.status).toBe(451);
});
