// A server that was started with `nice` starts its processes all the same: only root may give one a higher
// priority than its own.
import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';

const SLOT = new URL('../../../store/duckdb/slot.ts', import.meta.url).href;
const SCRIPT = `
import { getPriority } from 'node:os';
import { ownProcesses } from '${SLOT}';
const priorities = [getPriority()];
for (const niceness of [0, 19]) {
  const child = ownProcesses.start(niceness);
  priorities.push(getPriority(child.pid));
  await ownProcesses.end(child, true);
}
console.log(JSON.stringify(priorities));
`;

test('no DuckDB process has a higher priority than the server, and those of loads have a lower one', () => {
  const args = ['-n', '3', process.execPath, '--input-type=module', '-e', SCRIPT];
  const own = Math.min(getPriority() + 3, 19);
  expect(JSON.parse(execFileSync('nice', args, { encoding: 'utf8' }))).toEqual([own, own, 19]);
});
