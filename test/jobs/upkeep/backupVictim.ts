// The process of a server that kills itself at an operation on the target of its backup.
import { type Disk, localDisk } from '../../../store/base/disk.ts';
import { keepModules } from '../../base/program.ts';
import { startServer } from '../../base/server.ts';

const [folder = '', target = '', passes = ''] = process.argv.slice(2);
let left = Number(passes);

function at(path: string): void {
  if (path.startsWith(target) && (left -= 1) < 0) process.kill(process.pid, 'SIGKILL');
}

const disk: Disk = {
  ...localDisk,
  syncFile: async (path) => (at(path), localDisk.syncFile(path)),
  syncFolder: async (path) => (at(path), localDisk.syncFolder(path)),
  remove: async (path) => (at(path), localDisk.remove(path)),
  list: async (path) => (at(path), localDisk.list(path)),
  rename: async (from, to) => (at(to), localDisk.rename(from, to)),
};
const server = await startServer({ folder, seams: { disk } });
keepModules();
const answer = await fetch(`${server.base}/v1/admin/backup`, {
  method: 'POST',
  headers: { authorization: `Bearer ${server.tapedeck.services.adminToken}` },
  body: JSON.stringify({ target, copy: true }),
});
process.exit(answer.status === 200 ? 0 : 1);
