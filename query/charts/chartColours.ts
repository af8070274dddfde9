// How lines are told apart: by colour, and by dash for those who see no colours. All are seen on light and on
// dark paper alike.

interface LineLook {
  readonly colour: string;
  /** Dots that are drawn and left out, in turn; none for a line without gaps. */
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

/** Of a candle that closes at its open or above, and of one that closes below. */
export const RISING = '#0a8a6a';
export const FALLING = '#d1242f';

/** The paper of a picture, by light and by dark. */
export const PAPERS = { light: '#ffffff', dark: '#111111' };
