// Places the names of lines above the values, never over them.

export interface LegendEntry {
  /** Start of its line sample; its name follows. */
  readonly x: number;
  /** The middle of the row. */
  readonly y: number;
  readonly name: string;
  /** Index of the line; undefined for the entry that counts the omitted lines. */
  readonly line: number | undefined;
}

interface Legend {
  readonly rows: number;
  readonly entries: readonly LegendEntry[];
}

interface LegendPlace {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly rowsMax: number;
}

export const ROW_HEIGHT = 18;
/** Dots of the line sample before a name, and of the space after it. */
export const SWATCH = 24;
export const SWATCH_GAP = 6;
const BETWEEN = 16;
/** Usual width of a character in dots. */
export const CHARACTER = 8;
/** Limits for the characters of a name: the first limit with which all names fit is used. */
const NAME_MOSTS = [40, 24, 16, 10, 6];

export function computeLegend(names: readonly string[], place: LegendPlace): Legend {
  if (names.length === 0) return { rows: 0, entries: [] };
  for (const most of NAME_MOSTS) {
    const entries = placeNames(names, most, place);
    const rows = rowsOf(entries, place);
    if (rows <= place.rowsMax && isWithin(entries, place)) return { rows, entries };
  }
  return placeSome(names, place);
}

export const shortened = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};

const widthOf = ({ line, name }: Pick<LegendEntry, 'line' | 'name'>): number =>
  (line === undefined ? 0 : SWATCH + SWATCH_GAP) + [...name].length * CHARACTER;

function placeNames(
  names: readonly string[],
  most: number,
  { left, right, top }: LegendPlace,
): readonly LegendEntry[] {
  let [x, y] = [left, top + ROW_HEIGHT / 2];
  return names.map((full, line) => {
    const name = shortened(full, most);
    const width = widthOf({ line, name });
    if (x > left && x + width > right) [x, y] = [left, y + ROW_HEIGHT];
    const entry = { x, y, name, line };
    x += width + BETWEEN;
    return entry;
  });
}

const rowsOf = (entries: readonly LegendEntry[], { top }: LegendPlace): number =>
  Math.round(((entries.at(-1)?.y ?? top) - top + ROW_HEIGHT / 2) / ROW_HEIGHT);

const isWithin = (entries: readonly LegendEntry[], { right }: LegendPlace): boolean =>
  entries.every((entry) => entry.x + widthOf(entry) <= right);

/** Places as many names as fit, and the number of omitted ones. */
function placeSome(names: readonly string[], place: LegendPlace): Legend {
  const most = NAME_MOSTS.at(-1) ?? 1;
  const entries = placeNames(names, most, place);
  for (let count = names.length - 1; count > 0; count -= 1) {
    const visible = entries.slice(0, count);
    const last = visible.at(-1);
    if (last === undefined) break;
    const name = `+${names.length - count}`;
    const more = { x: last.x + widthOf(last) + BETWEEN, y: last.y, name, line: undefined };
    const all = [...visible, more];
    if (rowsOf(all, place) <= place.rowsMax && isWithin(all, place)) {
      return { rows: rowsOf(all, place), entries: all };
    }
  }
  return { rows: 0, entries: [] };
}
