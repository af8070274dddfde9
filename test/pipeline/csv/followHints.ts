// The hints of a refusal, as a person would follow them.

/**
 * Each reading that a message names, as the parameters of a load: `say a=1&b=2 (--a 1 --b 2), or c=3 if
 * …`.
 */
export function hintsIn(message: string): readonly Readonly<Record<string, string>>[] {
  const [, hints] = /; say (.*)$/.exec(message.replace(/ \([0-9A-F]+\)$/, '')) ?? [];
  if (hints === undefined) return [];
  return [...hints.matchAll(/(?:^|, or )([\w=&-]+)/g)].map(([, query = '']) =>
    Object.fromEntries(new URLSearchParams(query)),
  );
}
