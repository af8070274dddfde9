// Values as companies report them, one by one (XBRL), and what an input of the market makes of them.

/** One value of one filing: of the days from `start` to `end`, or of the day `end`. */
export interface ReportedFact {
  readonly concept: string;
  readonly unit: string;
  /** `YYYY-MM-DD`, as all days. */
  readonly start: string | null;
  readonly end: string;
  readonly value: number;
  /** Number of the filing. */
  readonly accession: string;
  /** Year and period of the filing, which is not always that of the value. */
  readonly fiscalYear: number | null;
  readonly fiscalPeriod: string | null;
  readonly form: string;
  readonly filed: string;
}

export interface FactReader {
  /** Others are not read at all. */
  readonly concepts: readonly string[];
  readonly recordsOf: (facts: readonly ReportedFact[]) => MadeOfFacts;
}

interface MadeOfFacts {
  readonly records: readonly Readonly<Record<string, string | number>>[];
  /** What a person should know of how they were made. */
  readonly notes: readonly string[];
}
