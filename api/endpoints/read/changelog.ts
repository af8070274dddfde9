// The changelog for programs, without a token.
import { readFile } from 'node:fs/promises';
import { Type } from '../../../reads/request/schema.ts';
import { parseReleases } from '../../../reads/market/reference/changelog.ts';
import type { OpenEndpoint } from '../../request/endpoint.ts';

/** At the root of a clone or a package. */
const FILE = new URL('../../../CHANGELOG.md', import.meta.url);

export const getChangelog: OpenEndpoint = {
  id: 'getChangelog',
  method: 'GET',
  path: '/changelog',
  token: 'none',
  summary: 'Changes by version, newest first.',
  weight: 'free',
  parameters: [],
  answer: Type.Array(
    Type.Object({
      version: Type.String({ description: '`Unreleased` for changes without a version' }),
      date: Type.Union([Type.String({ format: 'date' }), Type.Null()]),
      changes: Type.Array(
        Type.Object({
          kind: Type.String({
            description: 'Added, Changed, Deprecated, Removed, Fixed, Security',
          }),
          text: Type.String({ description: 'Markdown, in one line' }),
        }),
      ),
    }),
  ),
  failures: 'data',
  handle: async () => ({
    kind: 'json',
    value: parseReleases(await readFile(FILE, 'utf8')),
    metering: 'free',
  }),
};
