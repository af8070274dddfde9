// A second decoder of captures, written from the layout alone: it reads the whole file, 64-bit integers as
// BigInt, and has no state except the stream's. Slow and simple.
import { gunzipSync } from 'node:zlib';

export interface CapturedMessage {
  readonly type: string;
  readonly symbol: string;
  readonly ns: bigint;
  readonly sequence: bigint;
  /** Price and size, if the message has them. */
  readonly price?: string;
  readonly size?: number;
  readonly rest: readonly (string | number)[];
}

export function decoded(file: Buffer): readonly CapturedMessage[] {
  const bytes = file[0] === 0x1f ? gunzipSync(file, { finishFlush: 2 }) : file;
  const messages: CapturedMessage[] = [];
  let next = 1n;
  for (const payload of payloadsOf(bytes)) {
    const first = payload.getBigInt64(24, true);
    if (first === 1n && next > 1n) next = 1n;
    let at = 40;
    for (let place = 0n; place < BigInt(payload.getUint16(14, true)); place += 1n) {
      const length = payload.getUint16(at, true);
      const message = new DataView(payload.buffer, payload.byteOffset + at + 2, length);
      messages.push(messageOf(message, first + place));
      at += 2 + length;
      next = first + place + 1n;
    }
  }
  return messages;
}

function* payloadsOf(bytes: Buffer): Generator<DataView> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isNext = view.getUint32(0, true) === 0x0a0d0d0a;
  let at = isNext ? 0 : 24;
  for (;;) {
    if (at + 16 > bytes.length) return;
    const length = isNext ? view.getUint32(at + 4, true) : view.getUint32(at + 8, true) + 16;
    if (at + length > bytes.length) return;
    const isPacket = !isNext || view.getUint32(at, true) === 6;
    if (isPacket) {
      // Ethernet 14, IPv4 20, UDP 8: these files contain nothing else.
      const start = at + (isNext ? 28 : 16) + 42;
      const end = isNext ? at + 28 + view.getUint32(at + 20, true) : at + length;
      yield new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
    }
    at += length;
  }
}

function messageOf(view: DataView, sequence: bigint): CapturedMessage {
  const type = String.fromCharCode(view.getUint8(0));
  const ns = view.getBigInt64(2, true);
  const text = (at: number, length: number): string =>
    String.fromCharCode(...Array.from({ length }, (_, place) => view.getUint8(at + place)));
  const symbol = type === 'S' ? '' : text(10, 8).trimEnd();
  const price = (at: number): string => (Number(view.getBigInt64(at, true)) / 10_000).toString();
  const base = { type, symbol, ns, sequence };
  if (type === 'Q') {
    const sizes = [view.getUint32(18, true), price(22), price(30), view.getUint32(38, true)];
    return { ...base, rest: sizes };
  }
  if (type === 'T' || type === 'B') {
    const of = { price: price(22), size: view.getUint32(18, true) };
    return { ...base, ...of, rest: [String(view.getBigInt64(30, true)), view.getUint8(1)] };
  }
  if (type === '8' || type === '5') {
    return { ...base, price: price(22), size: view.getUint32(18, true), rest: [view.getUint8(1)] };
  }
  return { ...base, rest: [text(1, 1)] };
}
