#!/usr/bin/env node
// Starts the command line under the runtime that the package brings, whatever Node is on the PATH:
// from the sources in a clone, from the built program where the package is installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const LEAST_MAJOR = 24;
const built = fileURLToPath(new URL('../build/main.js', import.meta.url));
const source = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const script = existsSync(built) ? built : source;

if (Number(process.versions.node.split('.')[0]) >= LEAST_MAJOR) {
  // Half of the time of a short command is the reading of its modules.
  module.enableCompileCache();
  process.argv[1] = script;
  await import(script);
} else {
  const runtime = module.createRequire(import.meta.url).resolve('node/bin/node');
  const child = spawn(runtime, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 128);
  });
}
