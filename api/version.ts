// Versions of the interface, in a path's first segment (SPEC.md "Versioning").

/** `stable` is the latest stable version, `latest` and `beta` the newest; one is active now. */
const SEGMENTS = new Set(['v1', 'stable', 'latest', 'beta', 'v1-beta']);

export const isVersion = (segment: string): boolean => SEGMENTS.has(segment.toLowerCase());
