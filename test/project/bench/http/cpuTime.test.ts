// Processor time of process trees that use a known amount of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openClient } from '../../../../bench/http/clientProcess.ts';
import { measureCpuMs, findParent } from '../../../../bench/http/cpuTime.ts';
import { getRequests } from '../../../../bench/http/order.ts';

const BURNED_MS = 150;
/** The kernel counts in steps of ten milliseconds, for the user and for the system. */
const STEPS_MS = 20;
const BURN = `{ const spent = () => { const { user, system } = process.cpuUsage(); return user + system; };
  const from = spent(); while (spent() - from < ${BURNED_MS}e3) for (let at = 0; at < 1e6; at += 1); }`;

/** Runs a program that prints a line when it is done, and then waits; it is killed with the block. */
async function running(
  program: string,
): Promise<AsyncDisposable & { readonly pid: number; readonly line: string }> {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ending = once(child, 'exit').then(() => Promise.reject(new Error('it ended')));
  const [line] = (await Promise.race([once(child.stdout, 'data'), ending])) as [Buffer];
  ending.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    line: line.toString().trim(),
    [Symbol.asyncDispose]: () => killChild(child),
  };
}

async function killChild(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const WAIT = `console.log('done'); process.stdin.resume().on('end', () => process.exit());`;

test('a tree includes running and ended children, and no neighbours', async () => {
  const ended = `const { spawn, spawnSync } = require('node:child_process');
    spawnSync(process.execPath, ['-e', ${JSON.stringify(BURN)}]);`;
  const alive = `const inner = spawn(process.execPath, ['-e', ${JSON.stringify(BURN + WAIT)}]);
    inner.stdout.once('data', () => { ${WAIT} });`;
  await using idle = await running(WAIT);
  const idleMs = await measureCpuMs([idle.pid]);
  await using tree = await running(ended + alive);
  const ms = await measureCpuMs([tree.pid]);
  expect(ms).toBeGreaterThanOrEqual(2 * BURNED_MS - 2 * STEPS_MS);
  expect((await measureCpuMs([idle.pid])) - idleMs).toBeLessThan(BURNED_MS);
  expect(await measureCpuMs([tree.pid, idle.pid])).toBeGreaterThanOrEqual(ms + idleMs);
  expect(await findParent(tree.pid)).toBe(process.pid);
});

test('this process excludes its children, which are the other server and the client', async () => {
  const before = await measureCpuMs([process.pid]);
  await using burning = await running(BURN + BURN + BURN + WAIT);
  expect(burning.line).toBe('done');
  expect((await measureCpuMs([process.pid])) - before).toBeLessThan(2 * BURNED_MS);
});

test('a bench reports the processor time of the server, and separately that of the client', async () => {
  const server = `require('node:http').createServer((request, response) => {
    ${BURN.replaceAll(`${BURNED_MS}e3`, '50e3')} response.end('{}'); })
    .listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  await using side = await running(server);
  await using client = openClient();
  const plan = { requests: getRequests(['/']), connections: 1, count: 6 };
  const driven = await client.drive({ port: Number(side.line), pids: [side.pid] }, plan);
  expect(driven.serverCpuMs).toBeGreaterThanOrEqual(6 * 50 - STEPS_MS);
  expect(driven.cpuMs).toBeGreaterThan(0);
  expect(driven.cpuMs).toBeLessThan(driven.serverCpuMs);
});
