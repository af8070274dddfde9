// Measures recorded feeds: decoding every message, and loading a whole file into CORE, against a bare loop
// that decompresses the file and walks the lengths of its packets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readCapture } from '../../market/capture/capture.ts';
import { measureRatio, measureMs, type Ratio } from '../base/measure.ts';

const FILE = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'DEEP10.pcap.gz');
const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'tapedeck.mjs');

/** Sizes in a pcap file: file header, packet header, and offset of the length in the packet header. */
const [FILE_HEAD, PACKET_HEAD, LENGTH_AT] = [24, 16, 8];

export async function benchCaptures(
  folder: string,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  if (!existsSync(FILE)) return [`${FILE} does not exist: nothing is measured`];
  const walk = (): Promise<number> => measureMs(walkFile);
  const decoding = { name: 'capture decoded', target: '>= 0.5 of a walk over the lengths', pairs };
  const decode = (): Promise<number> => measureMs(() => readCapture(FILE, () => undefined));
  const loading = { name: 'capture loaded', target: '>= 0.3 of a walk over the lengths', pairs: 1 };
  const load = (round: number): Promise<number> =>
    measureMs(() => importFile(join(folder, `${round}`)));
  return [await measureRatio(decoding, decode, walk), await measureRatio(loading, load, walk)];
}

async function walkFile(): Promise<void> {
  const bytes = await promisify(gunzip)(await readFile(FILE));
  let packets = 0;
  for (let at = FILE_HEAD; at + PACKET_HEAD <= bytes.length; packets += 1) {
    at += PACKET_HEAD + bytes.readUInt32LE(at + LENGTH_AT);
  }
  if (packets < 1_000) throw new Error(`${packets} packets`);
}

/** Imports the file with one command, as a user does. */
async function importFile(folder: string): Promise<void> {
  const env = { ...process.env, TAPEDECK_DATA: folder, TAPEDECK_DEMO: 'off' };
  const child = spawn(process.execPath, [COMMAND, 'capture', 'import', FILE], {
    env,
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}
