// Defines single values reported by companies (XBRL) and their conversion to records of market inputs.

/** One value of one filing: for the days from `start` to `end`, or for the day `end`. */
export interface XbrlFact {
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
  /** Concepts to read; others are skipped. */
  readonly concepts: readonly string[];
  readonly buildRecords: (facts: readonly XbrlFact[]) => FactRecords;
}

interface FactRecords {
  readonly records: readonly Readonly<Record<string, string | number>>[];
  /** Notes for users about the conversion. */
  readonly notes: readonly string[];
}
