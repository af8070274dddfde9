// The format in which the SEC returns one concept of one company.

/** A value as a filing reports it. */
export interface Fact {
  readonly start?: string;
  readonly end: string;
  readonly val: number;
  readonly accn: string;
  readonly fy: number | null;
  readonly fp: string | null;
  readonly form: string;
  readonly filed: string;
  readonly frame?: string;
}

export const conceptOf = (tag: string, facts: readonly Fact[], unit = 'USD'): string =>
  JSON.stringify({
    cik: 1234,
    taxonomy: 'us-gaap',
    tag,
    label: `${tag}, net`,
    description: null,
    entityName: 'TAPE & DECK CORP',
    units: { [unit]: facts },
  });

export const CONTACT = 'Jane Doe jane@example.com';
