// Parses JSON such that its numbers keep their digits when it is written again.

interface SourceTextJson {
  readonly parse: (
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ) => unknown;
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON: (value: unknown) => boolean;
}

/** TypeScript has no types of source text access yet. */
const exact = JSON as unknown as SourceTextJson;

/**
 * A number is an object that `JSON.stringify` writes with its digits.
 * @param isKept whether a number of these digits may be a plain number instead
 * @throws SyntaxError
 */
export const parseExact = (text: string, isKept = (_: string): boolean => false): unknown =>
  exact.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isKept(source)
      ? exact.rawJSON(source)
      : value,
  );

/** Whether a value of `parseExact` is a number with its digits. */
export const isExactDigits = (value: unknown): boolean => exact.isRawJSON(value);
