// A file that a command line names: what is wrong with it is said before anything is begun.
import { access, constants, stat } from 'node:fs/promises';
import { Failure } from '../../store/base/failure.ts';

/** Bytes of it. @throws Failure InvalidParameter where it can not be read as a file. */
export async function bytesOfFile(path: string, given: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure('InvalidParameter', `there is no file ${given}`);
  if (found.isDirectory())
    throw new Failure('InvalidParameter', `${given} is no file: it is a folder`);
  const isReadable = await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!isReadable) throw new Failure('InvalidParameter', `${given} may not be read`);
  return found.size;
}
