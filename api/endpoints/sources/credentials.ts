// Credentials of data sources. Their secrets are stored encrypted and never returned.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
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
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { CREDENTIAL_BODY, parseCredential } from '../../datasets/ingest/sourceBody.ts';

type CredentialsServices = Pick<Services, 'clock' | 'database' | 'lake' | 'secrets' | 'settings'>;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  credentialId: Type.String(),
});

export const createCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'createCredential',
  method: 'POST',
  path: '/credentials/:workspace',
  summary: 'Stores a credential encrypted; its secrets are never returned.',
  body: { kind: 'json', schema: CREDENTIAL_BODY },
  answer: CHANGED,
  handle: async (call, services) => {
    const { clock, database, secrets } = services;
    const body = call.json as Static<typeof CREDENTIAL_BODY>;
    const workspace = findPathWorkspace(call, services).workspace;
    const id = newCredentialId();
    const now = clock();
    await insertCredential(database, {
      credential_id: id,
      workspace,
      name: String(body.name ?? body.type),
      type: body.type,
      sealed: sealCredential(parseCredential(body), secrets),
      created_ms: now,
      updated_ms: now,
    });
    return changedAnswer('created', id);
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
      findPathWorkspace(call, services).workspace,
    );
    const range = listRange(call.query, services.settings.zone);
    const page = inRange(rows, range, ({ created_ms }) => created_ms);
    const value = page.map((row) => toView(row, services.secrets));
    return toFreeAnswer(value);
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
    const value = toView(await findOwn(call, services), services.secrets);
    return toFreeAnswer(value);
  },
};

export const changeCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeCredential',
  method: 'PUT',
  path: '/credentials/:workspace/:id',
  summary: 'Replaces a credential for all sources that use it.',
  body: { kind: 'json', schema: CREDENTIAL_BODY },
  answer: CHANGED,
  handle: async (call, services) => {
    const row = await findOwn(call, services);
    const body = call.json as Static<typeof CREDENTIAL_BODY>;
    const sealed = sealCredential(parseCredential(body), services.secrets);
    const name = String(body.name ?? row.name);
    const updated = { ...row, name, type: body.type, sealed, updated_ms: services.clock() };
    await updateCredential(services.database, updated);
    return changedAnswer('updated', row.credential_id);
  },
};

export const deleteCredential: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteCredential',
  method: 'DELETE',
  path: '/credentials/:workspace/:id',
  summary: 'Deletes a credential that no data source uses.',
  answer: CHANGED,
  handle: async (call, services) => {
    const row = await findOwn(call, services);
    await removeCredential(services.database, row);
    return changedAnswer('deleted', row.credential_id);
  },
};

const changedAnswer = (action: string, credentialId: string): Answer =>
  toFreeAnswer({ success: true, message: `Credential has been ${action}`, credentialId });

async function findOwn(call: Call, services: CredentialsServices): Promise<CredentialRow> {
  const place = findPathWorkspace(call, services).workspace;
  const row = await findCredential(services.database, place, call.path['id'] ?? '');
  if (row === undefined) throw new Failure('NotFound');
  return row;
}

const toView = (row: CredentialRow, secrets: Secrets): object => ({
  credentialId: row.credential_id,
  name: row.name,
  type: row.type,
  ...visibleMembers(unsealCredential(row, secrets) as Credential),
  created: row.created_ms,
  updated: row.updated_ms,
});

/** Members that are no secret, and enough of the secrets to identify the credential. */
function visibleMembers(credential: Credential): object {
  if (credential.type === 'AWS-S3') return { accessKeyId: `…${credential.accessKeyId.slice(-4)}` };
  if (credential.type === 'HTTP') return { headers: Object.keys(credential.headers) };
  const { password: _, type: __, ...visible } = credential;
  return visible;
}
