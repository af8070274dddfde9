// `tapedeck status`: prints the state on one screen, problems first.
import type { HealthReport } from '../../jobs/upkeep/health.ts';
import { isoTime } from '../../store/base/clock.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { escapeControls } from '../print/terminalText.ts';
import { withAdmin } from '../connect/adminApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { megabytes } from '../print/bytesText.ts';

const timeOf = (ms: number | null): string => (ms === null ? 'never' : isoTime(ms));

export const showStatus = (
  { json }: { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const print = printTo(terminal);
    const status = (await call('GET', '/status')) as HealthReport;
    if (status.problems.some(({ level }) => level === 'fault')) terminal.endWith(1);
    if (json === true) return print(JSON.stringify(status));
    for (const line of linesOf(status)) print(escapeControls(line));
  });

function* linesOf(status: HealthReport): Generator<string> {
  const { backup, disk, feeds, jobs, ledger, problems, schedules, storage, time, version } = status;
  if (problems.length === 0) yield 'All is well.';
  for (const { advice, level, what } of problems) {
    yield `${level === 'fault' ? 'WRONG' : 'NOTE'}: ${what}`;
    yield `  ${advice}`;
  }
  yield '';
  yield `version ${version}, ${isoTime(time)}`;
  yield `jobs: ${jobs.running} running, ${jobs.waiting} waiting; charges that wait: ${ledger.waiting}`;
  yield `disk: ${megabytes(disk.free)} of ${megabytes(disk.size)} free`;
  yield `backup: ${backup === null ? 'never' : `${timeOf(backup.made)} in ${backup.target}`}`;
  for (const { history, limit, live, workspace } of storage) {
    const stored = `${megabytes(live)}, and ${megabytes(history)} of older versions`;
    yield `storage of ${workspace}: ${stored}; limit ${megabytes(limit, 0)}`;
  }
  for (const { isRunning, lastStored, name, records, workspace } of feeds) {
    const counts = `${records} records, the last ${timeOf(lastStored)}`;
    yield `feed ${name} of ${workspace}: ${isRunning ? 'runs' : 'does not run'}, ${counts}`;
  }
  for (const one of schedules) {
    const { dataset, failedInARow, lastSuccess, next, schedule, state, workspace } = one;
    const failing = failedInARow === 0 ? '' : `, failed ${failedInARow} in a row`;
    const when = `well last ${timeOf(lastSuccess)}, next ${timeOf(next)}${failing}`;
    yield `schedule ${schedule} of ${workspace}.${dataset}: ${state}, ${when}`;
  }
}
