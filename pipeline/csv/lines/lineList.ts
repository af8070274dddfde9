// Line numbers for display: the first ones, and their count.

/** Maximum lines that are listed. */
const LINES_NAMED = 10;

/** Notes for lines that are comments. */
export const COMMENTED = [
  'is a comment: it is no record',
  'are comments: they are no records',
] as const;

export class LineList {
  private readonly first: number[] = [];
  private count = 0;

  add(line: number): void {
    this.count += 1;
    if (this.first.length < LINES_NAMED) this.first.push(line);
  }

  /** `lines 3, 7 and 12 more repeat …`, or `line 3 repeats …` for one; empty if there are none. */
  note(one: string, many: string): readonly string[] {
    if (this.count === 0) return [];
    const more = this.count - this.first.length;
    const rest = more === 0 ? '' : ` and ${more} more`;
    const lines = `${this.first.join(', ')}${rest}`;
    return [this.count === 1 ? `line ${lines} ${one}` : `lines ${lines} ${many}`];
  }
}
