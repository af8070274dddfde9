// Checks answers in Python against an OpenAPI document.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestServer } from '../../../base/server.ts';

/** Debian's own Python has the package. */
const PYTHON = '/usr/bin/python3';
const MISSING = 'this machine cannot check answers in Python: Debian has python3-jsonschema';

/** Operation, its parameters, its body. */
export type Call = readonly [string, Readonly<Record<string, string | number>>, unknown?];

interface Checked {
  readonly status: number;
  readonly answer: unknown;
  readonly errors: readonly string[];
  /** Number of errors of the same answer with null in place of each value. */
  readonly errorsOfNulls: number;
  /** Members that could be missing or misspelt without an error. */
  readonly unnoticed: readonly string[];
}

async function python(args: readonly string[], input = ''): Promise<readonly [number, string]> {
  const child = spawn(PYTHON, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
  child.stdin.end(input);
  const [out, errorText, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return [code, code === 0 ? out : errorText];
}

/** Skips a test without the Python package, except in CI. */
export async function needsPython(skip: (why: string) => void): Promise<void> {
  const [code] = await python(['-c', 'import jsonschema']).catch(() => [1] as const);
  if (code === 0) return;
  if (process.env['CI'] === 'true') assert.fail(MISSING);
  skip(MISSING);
}

/** @param document a file; the server's own document if omitted */
export async function checkedByPython(
  { base, secret }: TestServer,
  calls: readonly Call[],
  ...document: readonly string[]
): Promise<readonly Checked[]> {
  const lines = calls.map((call) => JSON.stringify(call.length === 3 ? call : [...call, null]));
  const program = join(import.meta.dirname, 'openapiClient.py');
  const [status, output] = await python(
    ['-W', 'error', program, `${base}/v1`, secret, ...document],
    `${lines.join('\n')}\n`,
  );
  assert.equal(status, 0, output);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Checked);
}
