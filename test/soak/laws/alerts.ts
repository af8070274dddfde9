// Alerts to receivers that answer, fail, are slow, hang, disconnect, redirect, are gone or do not exist: each
// arrives at least once, complete and signed, or is a dead letter with its reason; no receiver affects the
// deliveries to others.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AlertDeliveries } from '../../../jobs/deliveries/alertDeliveries.ts';
import { type Alert, insertAlerts } from '../../../store/work/alerts.ts';
import type { Rule } from '../../../store/work/rules.ts';
import { seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

type Random = ReturnType<typeof seeded>;

const HOUR_MS = 3_600_000;
const DEADLINE_MS = 150;
const SECRET = 'whsec_c2VjcmV0IG9mIGEgcmVjZWl2ZXI=';

/** Handles a call as a kind of receiver. */
type Act = (random: Random, response: ServerResponse, request: IncomingMessage) => void;

const end = (response: ServerResponse, status: number): void =>
  void response.writeHead(status).end('told');

const RECEIVERS: Readonly<Record<string, Act>> = {
  good: (_, response) => end(response, 200),
  failing: (random, response) => end(response, random.chance(0.5) ? 500 : 204),
  busy: (random, response) => {
    if (random.chance(0.5)) response.writeHead(429, { 'retry-after': '120' }).end();
    else end(response, 200);
  },
  late: (random, response) => {
    setTimeout(() => end(response, 200), random.chance(0.3) ? DEADLINE_MS * 2 : 5).unref();
  },
  cutting: (random, response, request) => {
    if (random.chance(0.5)) request.socket.destroy();
    else end(response, 200);
  },
  refusing: (_, response) => end(response, 400),
  moved: (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  moving: (_, response, { url }) => {
    if (url === '/here') end(response, 200);
    else response.writeHead(307, { location: '/here' }).end();
  },
  gone: (_, response) => end(response, 410),
  hanging: () => undefined,
};

interface Receiver {
  readonly url: string;
  /** Completely received bodies, by the id of the alert. */
  readonly heard: Map<string, string>;
  close(): Promise<void>;
}

async function opened(act: Act, random: Random): Promise<Receiver> {
  const heard = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      const id = String(request.headers['webhook-id']);
      const time = String(request.headers['webhook-timestamp']);
      const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
      const signed = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
      assert.equal(request.headers['webhook-signature'], `v1,${signed}`);
      heard.set(id, body);
      act(random, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/told`, heard, close };
}

/** Delivers `count` alerts. @returns how many arrived, and how many are dead letters */
export async function alertsLaw(count: number, seed: number): Promise<string> {
  const random = seeded(seed);
  const clock = { nowMs: Date.parse('2024-02-29T17:00:00Z') };
  await using server = await startServer({ seams: { watch: false } });
  await using closing = new AsyncDisposableStack();
  const receivers = new Map<string, Receiver>();
  for (const [name, act] of Object.entries(RECEIVERS)) {
    const receiver = await opened(act, random.fork());
    receivers.set(name, receiver);
    closing.defer(() => receiver.close());
  }
  receivers.set('nowhere', {
    url: 'http://127.0.0.1:59998/',
    heard: new Map(),
    close: async () => {},
  });
  const rules = new Map(
    [...receivers].map(([name, { url }]) => [name, ruleOf(name, url, server)] as const),
  );
  const goneIds: string[] = [];
  const deliveries = new AlertDeliveries({
    clock: () => clock.nowMs,
    database: server.tapedeck.services.database,
    secrets: server.tapedeck.services.secrets,
    rules: {
      allowPrivateAddresses: true,
      deadlineMs: DEADLINE_MS,
      resolve: async () => [
        {
          address: '127.0.0.1',
          family: 4,
        },
      ],
    },
    sendMail: undefined,
    saveRecord: () => Promise.reject(new Error('no rule of this tape has a dataset')),
    ruleOf: (id) => rules.get(id),
    onGone: async ({ id }) => void goneIds.push(id),
    onFault: (reason) => assert.fail(`seed ${seed}: ${String(reason)}`),
  });
  closing.defer(() => deliveries.stop());
  const names = [...receivers.keys()];
  for (let at = 0; at < count; at += 1) {
    const name = names[at % names.length] ?? '';
    const alert = alertOf(`A${at}`, name, clock.nowMs);
    await insertAlerts(server.tapedeck.services.database, [alert]);
  }
  for (let hour = 0; hour < 200; hour += 1) {
    const next = await deliveries.deliverDue();
    if (next === Infinity) break;
    clock.nowMs = Math.max(clock.nowMs + random.between(1, HOUR_MS / 60), next);
  }
  const summary = await checked(server, receivers, `seed ${seed}`);
  assert.deepEqual([...new Set(goneIds)], ['gone'], `seed ${seed}: receivers reported as gone`);
  return `seed ${seed}: ${summary}`;
}

async function checked(
  server: TestServer,
  receivers: ReadonlyMap<string, Receiver>,
  where: string,
): Promise<string> {
  const alerts = await server.tapedeck.services.database.selectFrom('alert').selectAll().execute();
  let [arrived, dead] = [0, 0];
  for (const { alert_id, attempts, outcome, rule_id, state } of alerts) {
    const label = `${where}: ${alert_id} to ${rule_id} is ${state} (${outcome}, ${attempts} calls)`;
    const heard = receivers.get(rule_id)?.heard.has(alert_id) === true;
    assert.ok(state === 'delivered' || state === 'dead', label);
    if (state === 'delivered') assert.ok(heard, `${label}, and was not received`);
    if (['good', 'moving'].includes(rule_id)) assert.equal(state, 'delivered', label);
    if (['refusing', 'moved', 'gone', 'hanging', 'nowhere'].includes(rule_id)) {
      assert.equal(state, 'dead', label);
      assert.ok(outcome !== '', label);
    }
    if (rule_id === 'hanging' || rule_id === 'nowhere') assert.equal(attempts, 8, label);
    if (state === 'delivered') arrived += 1;
    else dead += 1;
  }
  return `${arrived} arrived, ${dead} dead letters`;
}

const ruleOf = (id: string, url: string, server: TestServer): Rule => ({
  id,
  accountId: server.tapedeck.accountId,
  tokenId: '',
  name: id,
  event: 'AAA',
  body: {
    match: 'all',
    conditions: [],
    additionalKeys: [],
    index: [],
    additionalIndex: [],
    trigger: 'level',
    isShadow: false,
    output: {
      method: 'webhook',
      frequencySeconds: 1,
      members: { url },
    },
  },
  sealed: server.tapedeck.services.secrets.seal(SECRET),
  isActive: true,
  note: '',
  createdMs: 0,
  updatedMs: 0,
  evaluated: 0,
  passed: 0,
  sent: 0,
});

const alertOf = (id: string, ruleId: string, timeMs: number): Alert => ({
  alert_id: id,
  rule_id: ruleId,
  account_id: '',
  symbol: 'AAA',
  time_ms: timeMs,
  values_json: '{"latestPrice":1}',
  method: 'webhook',
  messages: 100,
  state: 'waiting',
  outcome: '',
  attempts: 0,
  next_ms: 1,
});
