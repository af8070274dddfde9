// A server in a process of its own that exports, and dies on the way.
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
  /** How often it passes there before. */
  readonly passes: number;
  readonly body: object;
}

/** The id of the export that it did not finish. */
export async function killExport({ body, folder, out, passes, point }: Death): Promise<string> {
  const script = startedBy('test/jobs/export/exportVictim.ts');
  const flags = ['--disable-warning=ExperimentalWarning'];
  const args = [...flags, script, folder, out, point, String(passes)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const exited = once(child, 'exit');
    const [heard] = (await once(child.stdout, 'data')) as [Buffer];
    const [base = '', secret = ''] = heard.toString().trim().split(' ');
    const asked = await ask({ base, secret }, 'POST', '/exports/WS', body);
    assert.equal(asked.status, 200, JSON.stringify(asked.told));
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    return String(asked.told['exportId']);
  } finally {
    child.kill('SIGKILL');
  }
}
