// The process that is killed while it reads a dataset again: the real server on a given folder, with a
// shelf of sources. It says its base URL and secret token in one line. Arguments: the data folder, the
// shelf, and where it kills itself, from when the job of an edit has begun.
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
