// Runs beside every test file: what a file opened, it closes. A server, a child, a socket or a timer
// that would keep the process alive after the last hook fails the file, by its kind.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { stockedPids } from '../../base/childStock.ts';
import { moreThan } from './surplus.ts';

/** Sockets and children need a moment to be gone. */
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

/** The kinds of what keeps this process alive, one for each, and its children that serve nobody. */
function open(): readonly string[] {
  return [...process.getActiveResourcesInfo(), ...childrenOf(process.pid)];
}

/** Command lines of the children of a process, where the system tells them. */
function childrenOf(pid: number): readonly string[] {
  return tasksOf(pid)
    .flatMap((task) => told(`/proc/${pid}/task/${task}/children`).split(' '))
    .filter((child) => child.trim() !== '' && !stockedPids().includes(Number(child)))
    .map((child) => ({ child, command: told(`/proc/${child}/cmdline`) }))
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

/** A thread or a child may end between two looks: the others are told all the same. */
function told(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// Hoisted: it is asked for while this file loads.
function commandOf(words: string): string {
  return words.replaceAll('\0', ' ').trim().slice(0, 200);
}
