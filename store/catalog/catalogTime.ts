// The catalog's spelling of a time.

/** `2026-01-31 12:00:00.000+00`: sortable as text. */
export const catalogTime = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '+00');

export const timeOfCatalog = (text: string): number =>
  Date.parse(`${text.replace(' ', 'T').replace('+00', '')}Z`);
