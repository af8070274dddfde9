// Invented venues of the exchange, whose codes no market has.

interface Venue {
  readonly mic: string;
  readonly name: string;
  readonly tapeId: string;
  /** Share of the volume. */
  readonly share: number;
}

export const VENUES: readonly Venue[] = [
  { mic: 'ZSYA', name: 'Synthetic Main', tapeId: 'a', share: 0.34 },
  { mic: 'ZSYB', name: 'Synthetic Second', tapeId: 'b', share: 0.24 },
  { mic: 'ZSYC', name: 'Synthetic Crossing', tapeId: 'c', share: 0.18 },
  { mic: 'ZSYD', name: 'Synthetic Dark', tapeId: 'd', share: 0.14 },
  { mic: 'ZSYE', name: 'Synthetic East', tapeId: 'e', share: 0.1 },
];

/** @param draw from 0 to below 1 */
export function venueFor(draw: number): string {
  let left = draw;
  for (const { mic, share } of VENUES) {
    if (left < share) return mic;
    left -= share;
  }
  return VENUES[0]?.mic ?? '';
}
