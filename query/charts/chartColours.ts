// Defines the colour and the dash of each line; the dash is for readers who see no colours. All colours are
// visible on light and on dark paper.

interface LineLook {
  readonly colour: string;
  /** Alternating lengths of drawn and skipped dots; empty for a solid line. */
  readonly dash: readonly number[];
}

/** One for each line of a chart. */
const LOOKS: readonly LineLook[] = [
  { colour: '#1f6feb', dash: [] },
  { colour: '#cf4a1c', dash: [8, 3] },
  { colour: '#109b8a', dash: [2, 3] },
  { colour: '#9a3fd5', dash: [9, 3, 2, 3] },
  { colour: '#b58100', dash: [16, 4] },
  { colour: '#d6336c', dash: [4, 4] },
  { colour: '#4f7d1c', dash: [9, 3, 2, 3, 2, 3] },
  { colour: '#6e7781', dash: [5, 2, 1, 2] },
];

export const lookOf = (line: number): LineLook => LOOKS[line % LOOKS.length] ?? NO_LOOK;

const NO_LOOK: LineLook = { colour: '#1f6feb', dash: [] };

/** Colours of a candle that closes at its open or above, and of one that closes below. */
export const RISING = '#0a8a6a';
export const FALLING = '#d1242f';

/** Background of a chart in light and in dark mode. */
export const PAPERS = { light: '#ffffff', dark: '#111111' };
