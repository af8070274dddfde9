// A row of the coverage table.

export interface CoverageRow {
  /** Section of SPEC.md or INTERFACE.md. */
  readonly section: string;
  readonly row: string;
  /** `<file>#<title>` of a block of a transcript below test/http/cases, or a test file, or `later`. */
  readonly proof: string;
}

export const rows = (
  section: string,
  list: readonly (readonly [row: string, proof: string])[],
): readonly CoverageRow[] => list.map(([row, proof]) => ({ section, row, proof }));

export const later = (section: string, list: readonly string[]): readonly CoverageRow[] =>
  list.map((row) => ({ section, row, proof: 'later' }));
