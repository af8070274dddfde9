// The worker of arrow.ts: one file, batch by batch, as JSON lines.
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { zstdDecompressSync } from 'node:zlib';
import { CompressionType, compressionRegistry, type Data, RecordBatchReader } from 'apache-arrow';
import type { ArrowAnswer, ArrowTask } from './arrow.ts';
import { propertyOfArrow, textsOf, widerProperty } from './arrowValues.ts';

/** Bytes of one batch, packed and unpacked: all of it is in memory. */
const BATCH_BYTES_MAX = 256 * 1024 ** 2;
/** Bytes of a message's own words. */
const METADATA_BYTES_MAX = 16 * 1024 ** 2;
const LINES_CHARACTERS = 64 * 1024;

class Refused extends Error {}

compressionRegistry.set(CompressionType.ZSTD, {
  decode: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: BATCH_BYTES_MAX }),
});

/**
 * Walks over the messages without their bodies: none is larger than it may be, none is cut off.
 * @throws Refused
 */
async function checkMessages({ from, isFile }: ArrowTask): Promise<void> {
  const file = await open(from, 'r');
  try {
    const { size } = await file.stat();
    const read = async (at: number, bytes: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
      if (bytesRead < bytes) throw new Refused('it is cut short');
      return buffer;
    };
    for (let at = isFile ? 8 : 0; at < size;) {
      const opening = await read(at, 8);
      if (opening.readInt32LE(0) !== -1) throw new Refused('a message does not begin as it must');
      const metadata = opening.readInt32LE(4);
      if (metadata === 0) return;
      if (metadata < 0 || metadata > METADATA_BYTES_MAX) throw new Refused('a message is damaged');
      const body = bodyBytesOf(await read(at + 8, metadata));
      if (body < 0 || body > BATCH_BYTES_MAX) {
        throw new Refused(`a batch is over ${BATCH_BYTES_MAX} bytes: write it in smaller batches`);
      }
      at += 8 + metadata + body;
      if (at > size) throw new Refused('it is cut short');
    }
  } finally {
    await file.close();
  }
}

/** `bodyLength` of the flat buffer of a message: its fourth field. */
function bodyBytesOf(metadata: Buffer): number {
  try {
    const root = metadata.readUInt32LE(0);
    const table = root - metadata.readInt32LE(root);
    const field = metadata.readUInt16LE(table) > 10 ? metadata.readUInt16LE(table + 10) : 0;
    return field === 0 ? 0 : Number(metadata.readBigInt64LE(root + field));
  } catch {
    throw new Refused('a message is damaged');
  }
}

async function convert(task: ArrowTask): Promise<ArrowAnswer> {
  await checkMessages(task);
  const reader = await RecordBatchReader.from(createReadStream(task.from));
  await reader.open();
  const columns = reader.schema.fields.map(({ name, type }) => {
    const property = propertyOfArrow(type);
    if (property !== undefined) return { name, property };
    throw new Refused(`column ${name} has type ${String(type)}, which records can not hold`);
  });
  const names = columns.map(({ name }) => JSON.stringify(name));
  const properties = columns.map(({ property }) => property);
  async function* lines(): AsyncGenerator<string> {
    let text = '';
    for await (const batch of reader) {
      const data: readonly Data[] = batch.data.children;
      const texts = data.map((column) => textsOf(column));
      for (const [at, column] of data.entries()) {
        const wider = widerProperty(column);
        if (wider !== undefined) properties[at] = wider;
      }
      for (let row = 0; row < batch.numRows; row += 1) {
        const members = texts.map((textAt, at) => `${names[at]}:${textAt(row)}`);
        text += `{${members.join(',')}}\n`;
        if (text.length < LINES_CHARACTERS) continue;
        yield text;
        text = '';
      }
    }
    yield text;
  }
  await pipeline(Readable.from(lines()), createWriteStream(task.to, { mode: 0o600 }));
  const typed = columns.map(({ name, property }, at) => ({
    name,
    property: properties[at] ?? property,
  }));
  return { kind: 'columns', columns: typed };
}

function refusal(error: unknown): ArrowAnswer {
  const code = String(Reflect.get(Object(error), 'code') ?? '');
  if (code === 'ENOSPC' || code === 'EDQUOT') return { kind: 'full', code };
  const why = error instanceof Error ? error.message : String(error);
  const packed = /codec|compression/i.test(why)
    ? 'it is packed by LZ4: write it uncompressed, or packed by zstd'
    : why;
  return { kind: 'refused', reason: `the body is not readable Arrow: ${packed}` };
}

parentPort?.postMessage(await convert(workerData as ArrowTask).catch(refusal));
