// Writes an answer to stdout or to a file, and formats its time and its price.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DataAnswer } from '../connect/dataApi.ts';
import type { Output } from '../connect/terminal.ts';

/** @param file used instead of `stdout` @returns the number of bytes, if it is known */
export async function deliver(
  body: Readable,
  stdout: Output,
  file: string | undefined,
): Promise<number> {
  if (file !== undefined) return toFile(body, file);
  try {
    await pipeline(body, stdout, { end: false });
  } catch (error) {
    // A reader may close the pipe: `tapedeck sql … | head` is no error.
    if ((error as { readonly code?: string }).code !== 'EPIPE') throw error;
  }
  return 0;
}

/** Writes to a part file first: an interrupted answer leaves the file unchanged. */
async function toFile(body: Readable, output: string): Promise<number> {
  const part = `${output}.part`;
  const target = createWriteStream(part);
  try {
    await pipeline(body, target);
    await rename(part, output);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return target.bytesWritten;
}

export const pluralize = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;

/** Formats seconds, messages, and the row at which the answer was cut. */
export function summarizeAnswer(answer: DataAnswer, ms: number): readonly string[] {
  const premium = Number(headerOf(answer, 'cloud-premium-messages-used') ?? 0);
  return [
    `${(ms / 1000).toFixed(3)} s`,
    pluralize(Number(headerOf(answer, 'cloud-messages-used') ?? 0), 'message'),
    ...(premium === 0 ? [] : [pluralize(premium, 'premium message')]),
    ...describeCut(answer),
  ];
}

/** Returns no text for a complete answer. */
export const describeCut = (answer: DataAnswer): readonly string[] => {
  const cut = headerOf(answer, 'cloud-rows-cut');
  return cut === undefined ? [] : [`cut at ${pluralize(Number(cut), 'row')} by the tier`];
};

/** Returns a header whose name follows the server's brand prefix. */
function headerOf({ headers }: DataAnswer, ending: string): string | undefined {
  const first = Object.keys(headers).find((name) => name.endsWith('cloud-messages-used'));
  const brand = first?.slice(0, -'cloud-messages-used'.length) ?? '';
  const value = headers[`${brand}${ending}`];
  return value === undefined ? undefined : String(value);
}
