// A server in a process of its own that exports, and is killed during the export.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ask } from './exportReading.ts';
import { startedBy } from '../../base/program.ts';

interface Death {
  /** The data folder. */
  readonly folder: string;
  /** The folder of exports. */
  readonly out: string;
  readonly point: string;
  /** How often it passes the point before. */
  readonly passes: number;
  readonly body: object;
}

/** Returns the id of the export that it did not finish. */
export async function killExport({ body, folder, out, passes, point }: Death): Promise<string> {
  const script = startedBy('test/jobs/export/exportVictim.ts');
  const flags = ['--disable-warning=ExperimentalWarning'];
  const args = [...flags, script, folder, out, point, String(passes)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const exited = once(child, 'exit');
    const [heard] = (await once(child.stdout, 'data')) as [Buffer];
    const [base = '', secret = ''] = heard.toString().trim().split(' ');
    const answer = await ask({ base, secret }, 'POST', '/exports/WS', body);
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    return String(answer.json['exportId']);
  } finally {
    child.kill('SIGKILL');
  }
}
