// Checks a file of the command line, so that its errors are reported before any work begins.
import { access, constants, stat } from 'node:fs/promises';
import { Failure } from '../../store/base/failure.ts';

export const noFileSentence = (name: string): string => `there is no file ${name}`;

/** Returns the size of a file. @throws Failure InvalidParameter if it can't be read as a file */
export async function checkInputFile(path: string, name: string): Promise<number> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) throw new Failure('InvalidParameter', noFileSentence(name));
  if (info.isDirectory())
    throw new Failure('InvalidParameter', `${name} is no file: it is a folder`);
  const isReadable = await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!isReadable) throw new Failure('InvalidParameter', `${name} may not be read`);
  return info.size;
}
