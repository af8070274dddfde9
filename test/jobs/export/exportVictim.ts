// The process that is killed while it exports: the real server on a given folder. It prints its base URL
// and secret token in one line. Arguments: the data folder, the folder of exports, the point at which it
// kills itself, and how often it passes that point before.
import { writeSync } from 'node:fs';
import { keepModules } from '../../base/program.ts';
import { startServer } from '../../base/server.ts';

const STDOUT = 1;
const [folder = '', exportFolder = '', point = '', passes = '0'] = process.argv.slice(2);
let left = Number(passes);

const at = (here: string): void => {
  if (here !== point) return;
  left -= 1;
  if (left < 0) process.kill(process.pid, 'SIGKILL');
};

const settings = { TAPEDECK_EXPORT_FOLDER: exportFolder, TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
const server = await startServer({ folder, settings, seams: { at } });
keepModules();
writeSync(STDOUT, `${server.base} ${server.secret}\n`);
