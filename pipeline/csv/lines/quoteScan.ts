// Scans the quotes of a CSV byte by byte: whether each opens and closes a cell, so that every parser finds
// the same cells.

const [FEED, RETURN, QUOTE] = [10, 13, 34] as const;
/** Bytes without a quote after which the scan searches for the next quote. */
const SEARCH_AFTER = 64;

type Place = 'start' | 'cell' | 'quoted' | 'closed';

export class QuoteScan {
  private readonly sign: number;
  private place: Place = 'start';
  /** The scan has seen quotes. */
  isUsed = false;

  constructor(sign: number) {
    this.sign = sign;
  }

  get isOpen(): boolean {
    return this.place === 'quoted';
  }

  /** Whether the next bytes have a malformed quote, or a line break inside quotes. */
  isOdd(bytes: Buffer): boolean {
    let { place } = this;
    let since = 0;
    const { sign } = this;
    this.isUsed = true;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (place === 'quoted') {
        if (byte === QUOTE) place = 'closed';
        else if (byte === FEED || byte === RETURN) return true;
      } else if (byte === QUOTE) {
        if (place === 'cell') return true;
        place = 'quoted';
        since = 0;
      } else if (byte === sign || byte === FEED || byte === RETURN) place = 'start';
      else if (place === 'closed') return true;
      else place = 'cell';
      since += 1;
      if (since < SEARCH_AFTER || place !== 'cell') continue;
      const next = bytes.indexOf(QUOTE, at);
      if (next < 0) {
        place = placeAt(bytes, bytes.length, sign);
        break;
      }
      if (next > at + 1) {
        at = next - 1;
        place = placeAt(bytes, next, sign);
      }
      since = 0;
    }
    this.place = place;
    return false;
  }
}

/** The state before a byte outside of quotes. */
function placeAt(bytes: Buffer, at: number, sign: number): Place {
  const before = bytes[at - 1];
  return before === sign || before === FEED || before === RETURN ? 'start' : 'cell';
}
