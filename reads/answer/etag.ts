// Tags of answers: a caller who has cached an answer with its tag receives it no second time.
import { hashBody } from '../../store/base/bodyHash.ts';
import type { ReadRequest } from '../request/readRequest.ts';

/** Characters of a hash that make collisions practically impossible. */
const TAG_HASH_CHARACTERS = 32;

/**
 * Builds the ETag of an answer from the input versions, the format, and the whole request. A cache or client
 * that stores tags without their URLs must not confuse two answers.
 */
export function buildEtag(
  { endpoint, environment, path, query }: ReadRequest,
  version: readonly (string | number)[],
): string {
  const request = hashBody(JSON.stringify([endpoint, environment, path, query]));
  return `"${[...version, request.slice(0, TAG_HASH_CHARACTERS)].join('.')}"`;
}

/** Whether an If-None-Match names a tag; a weak tag matches too, as the request is a GET. */
export const matchesTag = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.split(',').some((item) => item.trim().replace(/^W\//, '') === tag);
