// Writes client/operations.ts, the types of the client, which git ignores: `npm ci`, `npm run check`,
// `npm run docs` and packing the client run it.
import { readFile, writeFile } from 'node:fs/promises';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { CLIENT_DOCUMENT, buildOpenApi } from '../api/introspection/openapi/openapi.ts';
import { marketDocument } from '../api/market/document/marketDocument.ts';
import { clientTypes, type Document } from './pages/clientTypes.ts';

const OPERATIONS = new URL('../client/operations.ts', import.meta.url);

/** Leaves a current file as it is, so that editors and watchers do not read it again. */
export async function writeClient(): Promise<void> {
  const plain = buildOpenApi(ENDPOINTS, 'svc', CLIENT_DOCUMENT);
  const market = await marketDocument(ENDPOINTS, 'svc');
  const text = clientTypes([plain, market] as unknown as readonly Document[]);
  const stored = await readFile(OPERATIONS, 'utf8').catch(() => '');
  if (stored !== text) await writeFile(OPERATIONS, text);
}

if (import.meta.main) await writeClient();
