// Instructions of a Dockerfile, and the file tree of its last stage.
import { cpSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface Instruction {
  readonly keyword: string;
  /** `--from=build` as `from`: `build`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly rest: string;
}

export function instructionsOf(text: string): readonly Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [keyword = '', ...words] = line.trim().split(/\s+/);
    const count = words.findIndex((word) => !/^--[a-z-]+=/.test(word));
    const flags = words.slice(0, Math.max(count, 0)).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(2, at), word.slice(at + 1)] as const;
    });
    return { keyword, flags: Object.fromEntries(flags), rest: words.slice(count).join(' ') };
  });
}

/** Parses `["a","b"]`, the form that needs no shell. */
export function listOf(text: string): readonly string[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error(`no list of words: ${text}`);
  return list.map(String);
}

/** `A=1 B=2`. */
export const variablesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(/\s+/).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));

interface Places {
  /** The root of the first stage; its `/opt/tapedeck` has the context too. */
  readonly build: string;
  readonly image: string;
}

/** Executes a COPY instruction; dependencies are linked, since they are many. */
export function copyInto({ build, image }: Places, { flags, rest }: Instruction): void {
  const words = rest.split(' ');
  const target = words.at(-1) ?? '';
  for (const source of words.slice(0, -1)) {
    const from =
      flags['from'] === undefined ? join(build, 'opt/tapedeck', source) : join(build, source);
    // COPY copies the content of a folder, not the folder itself.
    const isInto = target.endsWith('/') && !statSync(from).isDirectory();
    const to = join(image, target, isInto ? basename(source) : '');
    mkdirSync(dirname(to), { recursive: true });
    if (basename(source) === 'node_modules') symlinkSync(from, to);
    else cpSync(from, to, { recursive: true });
  }
}
