// A schema from a sample: what a load would make of a body, without loading it.
import { Type } from 'typebox';
import { guessMapping, schemaOf, wantedDates } from '../../pipeline/infer.ts';
import { checkJsonPath } from '../../pipeline/json.ts';
import { openSource } from '../../pipeline/source.ts';
import { inWorkFolder } from '../../store/workFolder.ts';
import { callerOf, workspaceOf } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';
import { textOf } from '../parameters.ts';
import { spoolBody } from '../spool.ts';

export const generateSchema: Endpoint = {
  id: 'generateSchema',
  method: 'POST',
  path: '/generate-schema/:workspace',
  token: 'secret',
  summary: 'The schema that the first megabyte of a body suggests; nothing is stored.',
  weight: 'free',
  parameters: [
    { kind: 'text', name: 'jsonPath', help: 'Where the array of records stands in the document.' },
  ],
  body: { kind: 'file' },
  answer: Type.Object({}, { additionalProperties: true }),
  failures: 'workspace',
  handle: async (call, services) => {
    const { disk, ingestion, lake } = services;
    workspaceOf(callerOf(call.caller), call.path['workspace'] ?? '', lake);
    const given = textOf(call.query, 'jsonPath');
    const jsonPath = given === undefined ? undefined : checkJsonPath(given);
    const { path } = await spoolBody(call, services);
    try {
      const { pool, deadlineMs, temporary } = ingestion;
      const { columns } = await inWorkFolder(temporary, (folder) =>
        openSource(path, jsonPath, { pool, folder, deadlineMs, onProgress: () => undefined }),
      );
      const properties = wantedDates(columns, undefined);
      const mapping = guessMapping(properties);
      const value = { ...schemaOf(properties, mapping), columnMapping: mapping };
      return { kind: 'json', value, metering: 'free' };
    } finally {
      await disk.remove(path);
    }
  },
};
