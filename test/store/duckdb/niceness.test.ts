// A server that was started with `nice` starts its processes all the same: only root may put one before
// itself.
import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';

const SLOT = new URL('../../../store/duckdb/slot.ts', import.meta.url).href;
const SCRIPT = `
import { getPriority } from 'node:os';
import { ownProcesses } from '${SLOT}';
const told = [getPriority()];
for (const niceness of [0, 19]) {
  const child = ownProcesses.start(niceness);
  told.push(getPriority(child.pid));
  await ownProcesses.end(child, true);
}
console.log(JSON.stringify(told));
`;

test('no process of DuckDB comes before the server, and those of loads come after it', () => {
  const args = ['-n', '3', process.execPath, '--input-type=module', '-e', SCRIPT];
  const own = Math.min(getPriority() + 3, 19);
  expect(JSON.parse(execFileSync('nice', args, { encoding: 'utf8' }))).toEqual([own, own, 19]);
});
