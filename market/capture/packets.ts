// Parses packets of a capture file (pcap, pcapng) as its bytes arrive: UDP payloads, one after the other.
// Invalid lengths and a truncated tail are counted and described, and never read past.

/** Limit of one packet or block; a longer one has an invalid length. */
const PACKET_BYTES_MAX = 256 * 1024;

export interface PacketCounts {
  readonly packets: number;
  /** Packets without UDP over IPv4, or with wrong lengths. */
  readonly others: number;
  readonly damaged: number;
  /** Why the file ends early, in words. */
  readonly cut: string | undefined;
}

/** The payload of a packet is in `bytes` from `start` to `end`: valid until the next one. */
type OnPayload = (bytes: Buffer, start: number, end: number) => void;

type Kind = 'pcap' | 'pcapng';

const NO_CAPTURE = 'the file is no capture: pcap or pcapng, plain or gzip';
const PCAP_LITTLE = new Set([0xa1b2c3d4, 0xa1b23c4d]);
const SECTION = 0x0a0d0d0a;
const BYTE_ORDER = 0x1a2b3c4d;
const [SIMPLE, ENHANCED] = [3, 6];

export class PacketReader {
  readonly #onPayload: OnPayload;
  #rest: Buffer = Buffer.alloc(0);
  #kind: Kind | undefined;
  #isBig = false;
  #packets = 0;
  #others = 0;
  #damaged = 0;
  #cut: string | undefined;

  constructor(onPayload: OnPayload) {
    this.#onPayload = onPayload;
  }

  /** @returns false where nothing after these bytes can be read */
  push(chunk: Buffer): boolean {
    if (this.#cut !== undefined) return false;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (this.#kind === undefined) {
      if (bytes.length < 24) {
        this.#rest = bytes;
        return true;
      }
      at = this.#begin(bytes);
    }
    while (this.#cut === undefined) {
      const next = this.#kind === 'pcap' ? this.#pcap(bytes, at) : this.#block(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    this.#rest = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
    return this.#cut === undefined;
  }

  end(): PacketCounts {
    if (this.#kind === undefined) this.#cut ??= NO_CAPTURE;
    else if (this.#rest.length > 0)
      this.#cut ??= `the last ${this.#rest.length} bytes are a part of a packet`;
    const [packets, others, damaged] = [this.#packets, this.#others, this.#damaged];
    return { packets, others, damaged, cut: this.#cut };
  }

  #begin(bytes: Buffer): number {
    const [little, big] = [bytes.readUInt32LE(0), bytes.readUInt32BE(0)];
    if (little === SECTION) {
      this.#kind = 'pcapng';
      return 0;
    }
    if (PCAP_LITTLE.has(little) || PCAP_LITTLE.has(big)) {
      this.#kind = 'pcap';
      this.#isBig = PCAP_LITTLE.has(big);
      return 24;
    }
    this.#cut = NO_CAPTURE;
    return bytes.length;
  }

  #u32(bytes: Buffer, at: number): number {
    return this.#isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  }

  /** Position of the next record; undefined where more bytes are needed. */
  #pcap(bytes: Buffer, at: number): number | undefined {
    if (bytes.length < at + 16) return undefined;
    const length = this.#u32(bytes, at + 8);
    if (length > PACKET_BYTES_MAX) return this.#lies(length);
    const end = at + 16 + length;
    if (bytes.length < end) return undefined;
    this.#packet(bytes, at + 16, end);
    return end;
  }

  #block(bytes: Buffer, at: number): number | undefined {
    if (bytes.length < at + 12) return undefined;
    const type = this.#u32(bytes, at);
    // A section states its byte order, before its length can be read.
    if (bytes.readUInt32LE(at) === SECTION) this.#isBig = bytes.readUInt32LE(at + 8) !== BYTE_ORDER;
    const length = this.#u32(bytes, at + 4);
    if (length < 12 || length % 4 !== 0 || length > PACKET_BYTES_MAX) return this.#lies(length);
    const end = at + length;
    if (bytes.length < end) return undefined;
    if (type === ENHANCED && length >= 32) {
      const captured = this.#u32(bytes, at + 20);
      if (at + 28 + captured <= end - 4) this.#packet(bytes, at + 28, at + 28 + captured);
      else this.#damaged += 1;
    } else if (type === SIMPLE && length >= 16) {
      const captured = Math.min(this.#u32(bytes, at + 8), length - 16);
      this.#packet(bytes, at + 12, at + 12 + captured);
    }
    return end;
  }

  #lies(length: number): undefined {
    this.#cut = `a packet has an invalid length of ${length} bytes: the rest can not be read`;
    return undefined;
  }

  /** Ethernet, IPv4, UDP. */
  #packet(bytes: Buffer, start: number, end: number): void {
    this.#packets += 1;
    let at = start + 14;
    let type = end - start < 14 ? 0 : bytes.readUInt16BE(start + 12);
    // VLAN tags, at most two of them.
    for (
      let tags = 0;
      tags < 2 && (type === 0x8100 || type === 0x88a8) && at + 4 <= end;
      tags += 1
    ) {
      type = bytes.readUInt16BE(at + 2);
      at += 4;
    }
    if (type !== 0x0800 || at + 20 > end || bytes.readUInt8(at + 9) !== 17) {
      this.#others += 1;
      return;
    }
    const udp = at + (bytes.readUInt8(at) & 0x0f) * 4;
    if (udp + 8 > end) {
      this.#damaged += 1;
      return;
    }
    const payload = udp + 8;
    const payloadEnd = udp + bytes.readUInt16BE(udp + 4);
    // Ethernet pads short packets; a length beyond the packet is invalid.
    if (payloadEnd > end || payloadEnd < payload) this.#damaged += 1;
    else this.#onPayload(bytes, payload, payloadEnd);
  }
}
