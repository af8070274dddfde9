// The process that is killed during a re-ingest: the real server on a given folder, with a folder of
// sources. It prints its base URL and secret token in one line. Arguments: the data folder, the folder of
// sources, and the point at which it kills itself once the job of an edit has begun.
import { writeSync } from 'node:fs';
import { keepModules } from '../../base/program.ts';
import { startServer } from '../../base/server.ts';

const STDOUT = 1;
const [folder = '', shelf = '', point = ''] = process.argv.slice(2);

const at = (here: string): void => {
  if (here === point) process.kill(process.pid, 'SIGKILL');
};

const settings = { TAPEDECK_SOURCE_FOLDER: shelf };
const server = await startServer({ folder, settings, seams: { at, watch: false } });
keepModules();
writeSync(STDOUT, `${server.base} ${server.secret}\n`);
