// A client that reads with ids resumes at its position, also at another server: NATS stores the messages
// of streams.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseBusSettings } from '../../../store/base/settings/busSettings.ts';
import { send } from '../../base/client.ts';
import { type Nats, startNats } from '../../base/servers/nats.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { DATED } from '../../soak/crash/rounds/killable.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

const it = test.skipIf(isLeftOut(await hasServers('nats')));

interface Scene extends AsyncDisposable {
  readonly nats: Nats;
  readonly start: (settings?: Readonly<Record<string, string>>) => Promise<TestServer>;
}

async function scene(): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const nats = await startNats();
  if (nats === undefined) throw new Error('NATS is not installed');
  stack.use(nats);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-bus-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const start: Scene['start'] = (settings = {}) =>
    startServer({ folder, settings: { TAPEDECK_BUS: nats.url, ...settings } });
  return { nats, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function createDataset(server: TestServer): Promise<void> {
  const answer = await send(server, 'POST', '/datasets/WS', { dataset: DATED });
  expect(answer.status, answer.text).toBe(200);
}

async function push(
  server: TestServer,
  symbol: string,
  ...values: readonly number[]
): Promise<void> {
  const rows = values.map((v) => ({ symbol, day: dayOf(v), v }));
  const answer = await send(server, 'POST', '/record/WS/K', rows);
  expect(answer.status, answer.text).toBe(200);
}

const dayOf = (v: number): string => new Date(v * 86_400_000).toISOString().slice(0, 10);

type Stream = Pick<Awaited<ReturnType<typeof openStream>>, 'text'>;

const valuesOf = ({ text }: Stream): readonly number[] =>
  [...text().matchAll(/^data: .*"v":(\d+)/gm)].map(([, v]) => Number(v));

const lastIdOf = ({ text }: Stream): string =>
  text()
    .match(/(?<=^id: ).*$/gm)
    ?.at(-1)
    ?.trim() ?? '';

const PATH = '/stream/WS/K?ids=true&nosnapshot=true&events=true';

it('a restarted server resumes with the messages that arrived meanwhile', async () => {
  await using setting = await scene();
  let id = '';
  {
    await using server = await setting.start();
    await createDataset(server);
    const stream = await openStream(server, PATH);
    await push(server, 'A', 1, 2);
    await until(() => valuesOf(stream).length === 2);
    id = lastIdOf(stream);
    await stream.close();
    await push(server, 'A', 3);
    await push(server, 'B', 4);
  }
  {
    await using server = await setting.start();
    // No client is connected yet.
    await push(server, 'A', 5);
    const stream = await openStream(server, `${PATH}&keys=A`, { 'last-event-id': id });
    const all = await openStream(server, PATH, { 'last-event-id': id });
    await push(server, 'A', 6);
    await until(() => valuesOf(stream).includes(6) && valuesOf(all).includes(6));
    expect(valuesOf(stream)).toEqual([3, 5, 6]);
    expect(valuesOf(all)).toEqual([3, 4, 5, 6]);
    expect(stream.text()).not.toContain('event: gap');
    const middle = /^id: (.*)$/m.exec(all.text())?.[1]?.trim() ?? '';
    const again = await openStream(server, PATH, { 'last-event-id': middle });
    await until(() => valuesOf(again).length === 3);
    expect(valuesOf(again)).toEqual([4, 5, 6]);
    expect(again.text()).not.toContain('event: gap');
  }
});

it('ticks that were sent are replayed, with a notice that others may be missing', async () => {
  await using setting = await scene();
  const path = '/last?symbols=AAA&ids=true&events=true&nosnapshot=true';
  const pushed = async (server: TestServer, price: number): Promise<void> => {
    const time = new Date(Date.parse('2024-02-29T19:00:00Z') + price).toISOString();
    const trade = { symbol: 'AAA', tradeId: `T${price}`, time, price, size: 10 };
    const answer = await send(server, 'POST', '/record/CORE/TRADES?wait=true', [trade]);
    expect(answer.status, answer.text).toBe(200);
  };
  const pricesOf = ({ text }: Stream): readonly number[] =>
    [...text().matchAll(/^data: .*"price":(\d+)/gm)].map(([, price]) => Number(price));
  let first = '';
  {
    await using server = await setting.start();
    const stream = await openStream(server, path);
    for (const price of [1, 2, 3]) await pushed(server, price);
    await until(() => pricesOf(stream).includes(3));
    first = /^id: (.*)$/m.exec(stream.text())?.[1]?.trim() ?? '';
  }
  await using server = await setting.start();
  const stream = await openStream(server, path, { 'last-event-id': first });
  await until(() => pricesOf(stream).length === 2);
  expect(pricesOf(stream)).toEqual([2, 3]);
  expect(stream.text()).toContain('event: gap\r\ndata: {"messages":null}');
});

it('streams continue without NATS, and a client that resumes from before gets a gap event', async () => {
  await using setting = await scene();
  const { nats } = setting;
  let id = '';
  {
    await using server = await setting.start();
    await createDataset(server);
    const stream = await openStream(server, PATH);
    await push(server, 'A', 1);
    await until(() => valuesOf(stream).length === 1);
    id = lastIdOf(stream);
    const { up } = await nats.down();
    await push(server, 'A', 2);
    await until(() => valuesOf(stream).length === 2);
    await up();
    const { bus } = server.tapedeck.services.streams;
    await until(() => bus?.isHere === true);
    await push(server, 'A', 3);
    await until(() => valuesOf(stream).length === 3);
    // The memory of this server has all messages.
    const again = await openStream(server, PATH, { 'last-event-id': id });
    await until(() => valuesOf(again).length === 2);
    expect(valuesOf(again)).toEqual([2, 3]);
    expect(again.text()).not.toContain('event: gap');
  }
  await using server = await setting.start();
  // Before that it has no messages from before its start.
  await until(() => server.tapedeck.services.streams.bus?.isHere === true);
  const stream = await openStream(server, PATH, { 'last-event-id': id });
  await until(() => valuesOf(stream).length > 0);
  expect(valuesOf(stream).at(-1)).toBe(3);
  expect(stream.text()).toContain('event: gap\r\ndata: {"messages":null}');
});

it('a server starts, serves and ends without NATS', async () => {
  await using setting = await scene();
  await setting.nats.down();
  await using server = await setting.start();
  await createDataset(server);
  const stream = await openStream(server, PATH);
  await push(server, 'A', 1);
  await until(() => valuesOf(stream).length === 1);
  expect(lastIdOf(stream)).toMatch(/^[0-9a-f]{8}-1$/);
});

it('a server ends although NATS is down or does not answer', async () => {
  await using setting = await scene();
  for (const away of ['gone', 'asleep']) {
    const server = await setting.start();
    if (away === 'gone') await createDataset(server);
    const stream = await openStream(server, PATH);
    const { up } = await (away === 'gone' ? setting.nats.down() : setting.nats.asleep());
    await push(server, 'A', away === 'gone' ? 1 : 2);
    await until(() => valuesOf(stream).length === 1);
    await server.close();
    await up();
  }
});

test.each([
  ['http://127.0.0.1:4222', /TAPEDECK_BUS must be empty or nats:/],
  ['nats://', /TAPEDECK_BUS must be empty or nats:/],
  ['nats://here:4222/stream', /TAPEDECK_BUS must be empty or nats:/],
  ['nats://a:4222,tls://b:4222', /TAPEDECK_BUS names servers of one cluster/],
  ['nats://u:%zz@a:4222', /TAPEDECK_BUS has a % that begins no %XX/],
])('%s is refused, and not repeated', (url, rule) => {
  const refused = (): unknown => parseBusSettings(url);
  expect(refused).toThrow(rule);
});

test('servers of a cluster share user and password, or a token', () => {
  expect(parseBusSettings('nats://me:p%40ss@a:4222, nats://b')).toEqual({
    servers: ['a:4222', 'b:4222'],
    isTls: false,
    user: 'me',
    password: 'p@ss',
    token: undefined,
  });
  expect(parseBusSettings('tls://s3cret@a')).toMatchObject({ isTls: true, token: 's3cret' });
});
