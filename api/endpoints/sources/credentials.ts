// Credentials: what opens data sources. Sealed when they come, and never told again.
import type { Static } from 'typebox';
import { Type } from '../../request/body/schema.ts';
import type { Credential } from '../../../pipeline/sources/base/source.ts';
import {
  type CredentialRow,
  findCredential,
  insertCredential,
  listCredentials,
  newCredentialId,
  removeCredential,
  sealCredential,
  unsealCredential,
  updateCredential,
} from '../../../store/work/dataSources.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Secrets } from '../../../store/catalog/secrets/secrets.ts';
import { ownedWorkspaceOf } from '../../auth/access.ts';
import type { Answer, Call, Endpoint, Services } from '../../request/endpoint.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, freely, OWNERS_ROW } from '../../request/rows.ts';
import { CREDENTIAL_BODY, credentialOf } from '../../datasets/ingest/sourceBody.ts';

type CredentialsServices = Pick<Services, 'clock' | 'database' | 'lake' | 'secrets' | 'settings'>;

const MADE = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  credentialId: Type.String(),
});

export const createCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'createCredential',
  method: 'POST',
  path: '/credentials/:workspace',
  summary: 'Keeps a credential, sealed; its secrets are never told again.',
  body: { kind: 'json', schema: CREDENTIAL_BODY },
  answer: MADE,
  handle: async (call, services) => {
    const { clock, database, secrets } = services;
    const body = call.json as Static<typeof CREDENTIAL_BODY>;
    const workspace = ownedWorkspaceOf(call, services).workspace;
    const id = newCredentialId();
    const now = clock();
    await insertCredential(database, {
      credential_id: id,
      workspace,
      name: String(body.name ?? body.type),
      type: body.type,
      sealed: sealCredential(credentialOf(body), secrets),
      created_ms: now,
      updated_ms: now,
    });
    return made('created', id);
  },
};

export const listCredentialsOf: Endpoint = {
  ...OWNERS_ROW,
  id: 'listCredentials',
  method: 'GET',
  path: '/credentials/:workspace',
  summary: 'The credentials of a workspace, without their secrets.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rows = await listCredentials(
      services.database,
      ownedWorkspaceOf(call, services).workspace,
    );
    const range = listRange(call.query, services.settings.zone);
    const taken = inRange(rows, range, ({ created_ms }) => created_ms);
    const value = taken.map((row) => view(row, services.secrets));
    return freely(value);
  },
};

export const getCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'getCredential',
  method: 'GET',
  path: '/credentials/:workspace/:id',
  summary: 'A credential, without its secrets.',
  answer: ANY,
  handle: async (call, services) => {
    const value = view(await own(call, services), services.secrets);
    return freely(value);
  },
};

export const changeCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeCredential',
  method: 'PUT',
  path: '/credentials/:workspace/:id',
  summary: 'Takes the place of a credential, for all sources that it opens.',
  body: { kind: 'json', schema: CREDENTIAL_BODY },
  answer: MADE,
  handle: async (call, services) => {
    const row = await own(call, services);
    const body = call.json as Static<typeof CREDENTIAL_BODY>;
    const sealed = sealCredential(credentialOf(body), services.secrets);
    const name = String(body.name ?? row.name);
    const updated = { ...row, name, type: body.type, sealed, updated_ms: services.clock() };
    await updateCredential(services.database, updated);
    return made('updated', row.credential_id);
  },
};

export const deleteCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteCredential',
  method: 'DELETE',
  path: '/credentials/:workspace/:id',
  summary: 'Deletes a credential that opens no data source.',
  answer: MADE,
  handle: async (call, services) => {
    const row = await own(call, services);
    await removeCredential(services.database, row);
    return made('deleted', row.credential_id);
  },
};

const made = (what: string, credentialId: string): Answer =>
  freely({ success: true, message: `Credential has been ${what}`, credentialId });

async function own(call: Call, services: CredentialsServices): Promise<CredentialRow> {
  const place = ownedWorkspaceOf(call, services).workspace;
  const row = await findCredential(services.database, place, call.path['id'] ?? '');
  if (row === undefined) throw new Failure('NotFound');
  return row;
}

const view = (row: CredentialRow, secrets: Secrets): object => ({
  credentialId: row.credential_id,
  name: row.name,
  type: row.type,
  ...shownOf(unsealCredential(row, secrets) as Credential),
  created: row.created_ms,
  updated: row.updated_ms,
});

/** What of it is no secret, and enough of what is to tell one from another. */
function shownOf(credential: Credential): object {
  if (credential.type === 'AWS-S3') return { accessKeyId: `…${credential.accessKeyId.slice(-4)}` };
  if (credential.type === 'HTTP') return { headers: Object.keys(credential.headers) };
  const { password: _, type: __, ...shown } = credential;
  return shown;
}
