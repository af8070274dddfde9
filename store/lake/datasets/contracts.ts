// Defines how a dataset handles records that do not fit: the contract of its schema, and expectations beyond
// types.

/**
 * Reaction to a misfit. evolve: the schema is widened. freeze: the load ends, nothing is ingested.
 * discard_record: the record is rejected. discard_value: the value is left out.
 */
type Reaction = 'evolve' | 'freeze' | 'discard_record' | 'discard_value';

export interface SchemaContract {
  /** Reaction to an unknown column. */
  readonly columns: Reaction;
  /** Reaction to a value that does not fit its property. */
  readonly types: Reaction;
  /**
   * The types were inferred from a file, not declared: an integer property is widened when a later file has
   * decimals.
   */
  readonly inferred?: true;
}

/** Default contract. */
export const DEFAULT_CONTRACT: SchemaContract = {
  columns: 'discard_value',
  types: 'discard_record',
};

export type Comparison = '<' | '<=' | '=' | '!=' | '>=' | '>';

/** Contract of a dataset that a load creates. */
export const INFERRED_CONTRACT: SchemaContract = { ...DEFAULT_CONTRACT, inferred: true };

/** Rule for records. Only `notNull` refuses a null. */
export type Rule =
  | { readonly notNull: readonly string[] }
  | {
      readonly range: {
        readonly property: string;
        /** A number; for a date its text, as answers contain it. */
        readonly min?: number | string;
        readonly max?: number | string;
      };
    }
  /** Matches the whole text by RE2, in time linear in the text. */
  | { readonly pattern: { readonly property: string; readonly matches: string } }
  | { readonly oneOf: { readonly property: string; readonly values: readonly (string | number)[] } }
  /** Properties with a comparison between each two: `["low", "<=", "open", "<=", "high"]`. */
  | { readonly compare: readonly string[] }
  /** A new record of a key is not older than the key's latest stored one. */
  | { readonly monotone: true };

/**
 * Action for a record that violates a rule. quarantine: it is set aside. reject: it is reported and left out.
 * fail: the load ends, nothing is ingested. warn: the log reports it.
 */
export type Action = 'quarantine' | 'reject' | 'fail' | 'warn';

export type Expectation = Rule & {
  readonly name?: string;
  readonly action: Action;
};

export const isDefaultContract = ({ columns, types }: SchemaContract): boolean =>
  columns === DEFAULT_CONTRACT.columns && types === DEFAULT_CONTRACT.types;

/**
 * Whether records are checked beyond their types, so that a small push takes the path of a load. New columns
 * that are only added (`evolve`) are no such check: a push without one is handled as usual.
 */
export const needsRecordChecks = ({
  contract,
  expectations,
}: {
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
}): boolean =>
  expectations.length > 0 ||
  contract.types !== DEFAULT_CONTRACT.types ||
  (contract.columns !== DEFAULT_CONTRACT.columns && contract.columns !== 'evolve');
