// Formats and parses times as the catalog stores them.

/** Formats a time as `2026-01-31 12:00:00.000+00`, which sorts as text. */
export const formatCatalogTime = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '+00');

export const parseCatalogTime = (text: string): number =>
  Date.parse(`${text.replace(' ', 'T').replace('+00', '')}Z`);
