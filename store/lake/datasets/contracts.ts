// What a dataset makes of records that do not fit it: the contract of its schema, and what its
// owner expects of records besides their types.

/**
 * What follows from what does not fit. evolve: the schema becomes wider. freeze: the load ends,
 * nothing is ingested. discard_record: the record is rejected. discard_value: the value is left out.
 */
type Fate = 'evolve' | 'freeze' | 'discard_record' | 'discard_value';

export interface SchemaContract {
  /** Of a column that the schema does not have. */
  readonly columns: Fate;
  /** Of a value that does not fit its property. */
  readonly types: Fate;
  /**
   * Its types were inferred from a file, and nobody declared them: an integer property becomes wider where
   * a later file has decimals.
   */
  readonly inferred?: true;
}

/** Where owners say nothing. */
export const USUAL_CONTRACT: SchemaContract = {
  columns: 'discard_value',
  types: 'discard_record',
};

export type Comparison = '<' | '<=' | '=' | '!=' | '>=' | '>';

/** Of a dataset that a load creates. */
export const INFERRED_CONTRACT: SchemaContract = { ...USUAL_CONTRACT, inferred: true };

/** What is asked of a record. A null is only refused by `notNull`. */
export type Rule =
  | { readonly notNull: readonly string[] }
  | {
      readonly range: {
        readonly property: string;
        /** A number; of a date its text, as dates are answered. */
        readonly min?: number | string;
        readonly max?: number | string;
      };
    }
  /** The whole text, by RE2: its time grows with the text alone. */
  | { readonly pattern: { readonly property: string; readonly matches: string } }
  | { readonly oneOf: { readonly property: string; readonly values: readonly (string | number)[] } }
  /** Properties with a comparison between each two: `["low", "<=", "open", "<=", "high"]`. */
  | { readonly compare: readonly string[] }
  /** A record that is new to its key is not older than the key's newest stored one. */
  | { readonly monotone: true };

/**
 * What follows for a record that does not keep a rule. quarantine: it is kept aside. reject: it is
 * told and left out. fail: the load ends, nothing is ingested. warn: the log tells it.
 */
export type Action = 'quarantine' | 'reject' | 'fail' | 'warn';

export type Expectation = Rule & {
  readonly name?: string;
  readonly action: Action;
};

export const isUsual = ({ columns, types }: SchemaContract): boolean =>
  columns === USUAL_CONTRACT.columns && types === USUAL_CONTRACT.types;

/**
 * Records are checked for more than their types, so that a small push takes the way of a load too. New
 * columns that are only added (`evolve`) are no such check: a push without one is like any other.
 */
export const isGoverned = ({
  contract,
  expectations,
}: {
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
}): boolean =>
  expectations.length > 0 ||
  contract.types !== USUAL_CONTRACT.types ||
  (contract.columns !== USUAL_CONTRACT.columns && contract.columns !== 'evolve');
