#!/usr/bin/env node
// Starts the command line under the packaged runtime if the Node on the PATH is too old: from the sources in
// a clone, from the built program in an installed package.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const LEAST_MAJOR = 24;
const built = fileURLToPath(new URL('../build/main.js', import.meta.url));
const source = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const script = existsSync(built) ? built : source;

if (Number(process.versions.node.split('.')[0]) >= LEAST_MAJOR) {
  // Reading modules takes half of the time of a short command.
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
