// A serving node that is paused while another one takes over returns nothing outdated when it wakes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { fetchText, TOKENS } from '../../soak/crash/rounds/killable.ts';
import { ready, startNodes } from '../../soak/crash/nodes/nodes.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';

const READS = 20;
const PATHS = [
  '/data/WS/K/A',
  '/time-series/WS.K/A',
  '/datasets/WS/K',
  '/sql-query/WS?sqlQuery=SELECT+v+FROM+K',
];

test.skipIf(isLeftOut(await hasServers('postgres', 'swift')))(
  'a serving node that was paused while another one took over returns no outdated value',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const random = seeded(seed);
      await using here = await startNodes(2);
      const [first, second] = here.living;
      assert.ok(first && second);
      const push = (base: string, v: number): Promise<string> => {
        const body = JSON.stringify([{ symbol: 'A', day: '2024-01-01', v }]);
        return fetchText(base, 'POST', '/record/WS/K?duplicateKeyHandling=replace', body);
      };
      await push(first.base, 1);
      for (const path of PATHS) await fetchText(first.base, 'GET', path);
      const sockets = Array.from({ length: READS }, () =>
        connect(Number(new URL(first.base).port), '127.0.0.1'),
      );
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const answers = sockets.map((socket) => {
        let text = '';
        socket.on('data', (bytes) => (text += bytes));
        socket.on('error', () => undefined);
        return new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
      });
      const { child } = first.serving;
      const ended = once(child, 'exit');
      child.kill('SIGSTOP');
      // They lie in the kernel until it wakes.
      for (const socket of sockets) {
        const path = random.pick(PATHS as [string, ...string[]]);
        const token = `${path.includes('?') ? '&' : '?'}token=${TOKENS.secret}`;
        socket.write(`GET /v1${path}${token} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      }
      while (!/^ready$/m.test(await ready(second))) await sleep(50);
      await push(second.base, 2);
      await sleep(random.between(0, 300));
      child.kill('SIGCONT');
      const texts = await Promise.all(answers);
      assert.deepEqual(await ended, [75, null]);
      const last = first.serving.output.stderr;
      const [why, ...rest] = last.split('; ');
      assert.match(why ?? '', /^tapedeck: another Tapedeck process /);
      assert.equal(rest.at(-1), 'this server stops, start it again\n');
      assert.ok(rest.length === 1 || /^\d+ delivered calls are not charged$/.test(rest[0] ?? ''));
      const statuses = texts.map((text) => text.slice(9, 12) || 'none');
      note(context, `seed ${seed}: ${statuses.join(' ')}`);
      const old = texts.filter((text) => text.startsWith('HTTP/1.1 200'));
      assert.deepEqual(old, []);
      assert.match(await fetchText(second.base, 'GET', '/data/WS/K/A'), /"v":2/);
    }
  },
  120_000,
);
