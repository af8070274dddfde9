// Runs beside every test file, which must close everything that it opens. A server, a child, a socket or a
// timer that would keep the process alive after the last hook fails the file, by its kind.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { stockedPids } from '../../base/childStock.ts';
import { moreThan } from './surplus.ts';

/** Sockets and children need a moment to close. */
const LINGER_MS = Number(process.env['TEST_LINGER_MS'] ?? 10_000);
const POLL_MS = 20;

// vitest runs the hooks that end a file in the reverse order: this one is the last.
const before = open();

afterAll(async () => {
  const givenUpMs = performance.now() + LINGER_MS;
  let left = moreThan(open(), before);
  while (left.length > 0 && performance.now() < givenUpMs) {
    await sleep(POLL_MS, undefined, { ref: false });
    left = moreThan(open(), before);
  }
  if (left.length > 0) {
    throw new Error(`The file leaves open: ${left.join(', ')}; close it in a hook.`);
  }
});

/** The kinds of resources that keep this process alive, and its unused children. */
function open(): readonly string[] {
  return [...process.getActiveResourcesInfo(), ...childrenOf(process.pid)];
}

/** Command lines of the children of a process, if the system reports them. */
function childrenOf(pid: number): readonly string[] {
  return tasksOf(pid)
    .flatMap((task) => readText(`/proc/${pid}/task/${task}/children`).split(' '))
    .filter((child) => child.trim() !== '' && !stockedPids().includes(Number(child)))
    .map((child) => ({ child, command: readText(`/proc/${child}/cmdline`) }))
    .filter(({ command }) => command !== '')
    .map(({ child, command }) => `child ${child} ${commandOf(command)}`);
}

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Returns '' for a thread or a child that ended meanwhile: the others are still reported. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// A hoisted function: it is called while this file loads.
function commandOf(words: string): string {
  return words.replaceAll('\0', ' ').trim().slice(0, 200);
}
