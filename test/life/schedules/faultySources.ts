// The source servers for the schedules of a simulated month: each answer has the earlier records
// and one more, and some answers are faults.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Seeded } from '../../soak/crash/rounds/seeded.ts';

/** The faults that replace the records. */
const FAULTS = [
  'status-500',
  'status-429',
  'status-404',
  'reset',
  'cut',
  'too-short',
  'nonsense',
] as const;

interface Source {
  /** Number of its records. */
  records: number;
  answers: number;
}

export class FaultySources implements AsyncDisposable {
  readonly #server: Server;
  readonly #random: Seeded;
  readonly #sources = new Map<string, Source>();
  readonly counts: Record<string, number> = {};
  /** Share of answers that are faults. */
  faults = 0.1;

  private constructor(random: Seeded) {
    this.#random = random;
    this.#server = createServer((request, response) => {
      this.#answer(request.url ?? '', String(request.headers['if-none-match'] ?? ''), response);
    });
  }

  static async open(random: Seeded): Promise<FaultySources> {
    const sources = new FaultySources(random);
    await new Promise<void>((resolve) => sources.#server.listen(0, '127.0.0.1', resolve));
    return sources;
  }

  urlOf(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  recordsOf(name: string): number {
    return this.#sources.get(name)?.records ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(url: string, knownTag: string, response: ServerResponse): void {
    const source = this.#sources.get(url.slice(1)) ?? { records: 0, answers: 0 };
    this.#sources.set(url.slice(1), source);
    source.answers += 1;
    const fault = this.#random.chance(this.faults) ? this.#random.pick(FAULTS) : undefined;
    this.#count(fault ?? 'well');
    if (fault !== undefined) {
      answerFault(fault, source, response);
      return;
    }
    // Two of three answers have a new record.
    if (source.records === 0 || this.#random.chance(0.66)) source.records += 1;
    const tag = `"${source.records}"`;
    if (tag === knownTag) {
      this.#count('unchanged');
      response.writeHead(304).end();
      return;
    }
    const packed = this.#random.chance(0.3);
    const body = packed ? gzipSync(bodyOf(source)) : bodyOf(source);
    const coding = packed ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, { etag: tag, 'content-length': body.length, ...coding }).end(body);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** The record of a number: its value follows from the number, so that a wrong one is detected. */
export const valueAt = (at: number): number => at * 7 + 1;

const dayAt = (at: number): string =>
  new Date(Date.UTC(2000, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);

/** All records: a schedule that missed some gets them. */
function bodyOf({ records }: Source): Buffer {
  const lines = Array.from({ length: records }, (_, at) => `K,${dayAt(at)},${at},${valueAt(at)}\n`);
  return Buffer.from(`key,day,item,value\n${lines.join('')}`);
}

function answerFault(fault: string, source: Source, response: ServerResponse): void {
  const body = bodyOf({ ...source, records: source.records + 1 });
  if (fault.startsWith('status-')) {
    response.writeHead(Number(fault.slice(7))).end('not now');
    return;
  }
  if (fault === 'nonsense') {
    response.writeHead(200).end('<html><body>Welcome</body></html>\n<p>\n');
    return;
  }
  if (fault === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const length = fault === 'cut' ? body.length : body.length + 100;
  response.writeHead(200, { 'content-length': length });
  const part = fault === 'cut' ? body.subarray(0, Math.max(1, body.length - 5)) : body;
  response.write(part, () => response.socket?.destroy());
}
