// Versions of the API in a path's first segment (SPEC.md "Versioning").

interface Version {
  /** Deprecation and sunset as ISO 8601 days. */
  readonly retired?: { readonly deprecated: string; readonly sunset: string };
}

/** `stable` is the latest stable version, `latest` and `beta` the most recent; only one is active now. */
const SEGMENTS: ReadonlyMap<string, Version> = new Map<string, Version>([
  ['v1', {}],
  ['stable', {}],
  ['latest', {}],
  ['beta', {}],
  // The beta of v1, before its first release.
  ['v1-beta', { retired: { deprecated: '2026-11-21', sunset: '2027-11-21' } }],
]);

export const isVersion = (segment: string): boolean => SEGMENTS.has(segment.toLowerCase());

/** Headers of a retired version: RFC 9745 `Deprecation`, RFC 8594 `Sunset`. */
export function versionHeaders(segment: string): Readonly<Record<string, string>> | undefined {
  const retired = SEGMENTS.get(segment.toLowerCase())?.retired;
  if (retired === undefined) return undefined;
  return {
    deprecation: deprecatedSince(retired.deprecated),
    sunset: new Date(retired.sunset).toUTCString(),
  };
}

/** `@` and epoch seconds. */
export const deprecatedSince = (day: string): string => `@${Date.parse(day) / 1000}`;
