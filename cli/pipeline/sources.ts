// `tapedeck source` and `credential`: manages sources of records, and their credentials.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { listAnswer, tableAnswer } from '../print/answerLists.ts';
import type { Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface PlaceOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

export interface AddOptions extends PlaceOptions {
  readonly name?: string;
  readonly jsonPath?: string;
  readonly header?: readonly string[];
  readonly credential?: string;
}

interface Source {
  readonly dataSourceId: string;
  readonly name: string;
  readonly type: string;
}

/**
 * Adds a source: a URL, a path below TAPEDECK_SOURCE_FOLDER, `s3://bucket/key-or-pattern`, or a JSON
 * definition (`@file`, `-` for standard input).
 */
export async function addSource(
  from: string,
  options: AddOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const definition = await readDefinition(from, options, terminal);
  await withWorkspace(settings, options.workspace, terminal, async (call) => {
    const credentialId =
      options.credential === undefined
        ? {}
        : { credentialId: await findCredentialId(call, options.credential) };
    const name = options.name === undefined ? {} : { name: options.name };
    const value = { ...definition, ...name, ...credentialId };
    listAnswer([await call('POST', '/data-sources', value)], 'dataSourceId', options, terminal);
  });
}

async function readDefinition(
  from: string,
  { header, jsonPath }: AddOptions,
  { folder, stdin }: Terminal,
): Promise<object> {
  if (from === '-') return parseObject(await text(stdin));
  if (from.startsWith('@')) {
    return parseObject(await readFile(resolve(folder, from.slice(1)), 'utf8'));
  }
  const path = jsonPath === undefined ? {} : { jsonPath };
  if (/^https?:\/\//i.test(from)) {
    const headers = header === undefined ? {} : { headers: parseHeaders(header) };
    return { type: 'HTTP', url: from, ...headers, ...path };
  }
  if (/^wss?:\/\//i.test(from)) {
    const rule = 'pass its definition as JSON: {"type":"WEBSOCKET","url":…,"dataset":…}';
    throw new Failure('InvalidParameter', `a WebSocket feeds a dataset; ${rule}`);
  }
  const bucket = /^s3:\/\/([^/]+)\/(.+)$/i.exec(from);
  if (bucket === null) return { type: 'FILE', path: from, ...path };
  const [, awsbucketName, rest = ''] = bucket;
  const named = /[*?[]/.test(rest) ? { pattern: rest } : { key: rest };
  return { type: 'AWS-S3', awsbucketName, ...named, ...path };
}

function parseHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      if (at > 0) return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      throw new Failure('InvalidParameter', '--header must be written as name: value');
    }),
  );
}

function parseObject(jsonText: string): object {
  const value: unknown = parsed(jsonText);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Failure('InvalidParameter', 'the definition must be a JSON object');
}

function parsed(jsonText: string): unknown {
  try {
    return JSON.parse(jsonText);
  } catch {
    return undefined;
  }
}

export const listSources = (
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const sources = (await call('GET', '/data-sources?sort=asc')) as readonly object[];
    tableAnswer(sources, ['name', 'type', 'dataSourceId'], options, terminal);
  });

/** Runs `work` for a source, by its id or its name. */
const withSource = (
  source: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
  work: (call: CallJson, id: string) => Promise<void>,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) =>
    work(call, await findSourceId(call, source)),
  );

export const sampleSource = (
  source: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withSource(source, options, settings, terminal, async (call, id) => {
    const rows = (await call('GET', `/sample-data-source/${id}`, undefined)) as readonly object[];
    tableAnswer(rows, Object.keys(rows[0] ?? {}), options, terminal);
  });

export const showSchema = (
  source: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withSource(source, options, settings, terminal, async (call, id) => {
    const schema = (await call('GET', `/generate-schema/${id}`)) as {
      readonly properties: Readonly<Record<string, { type: string; format?: string }>>;
      readonly columnMapping: Readonly<Record<string, string>>;
    };
    const rows = Object.entries(schema.properties).map(([property, { format, type }]) => ({
      property,
      type: format ?? type,
      index: Object.entries(schema.columnMapping).find(([, name]) => name === property)?.[0] ?? '',
    }));
    tableAnswer(rows, ['property', 'type', 'index'], options, terminal);
  });

export const removeSource = (
  source: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withSource(source, options, settings, terminal, async (call, id) => {
    listAnswer([await call('DELETE', `/data-sources/${id}`)], 'dataSourceId', options, terminal);
  });

/** Reads the credential's JSON from standard input: other users can see a command line. */
export const addCredential = (
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const credential = parseObject(await text(terminal.stdin));
    listAnswer([await call('POST', '/credentials', credential)], 'credentialId', options, terminal);
  });

export const listCredentials = (
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const credentials = (await call('GET', '/credentials?sort=asc')) as readonly object[];
    tableAnswer(credentials, ['name', 'type', 'credentialId'], options, terminal);
  });

/** Returns the id of a source, by its id or its name. @throws Failure NotFound, InvalidParameter. */
export async function findSourceId(call: CallJson, nameOrId: string): Promise<string> {
  if (nameOrId.startsWith('DATA_SOURCE_')) return nameOrId;
  const sources = (await call('GET', '/data-sources')) as readonly Source[];
  return findByName(sources, nameOrId, 'data source').dataSourceId;
}

/** Returns the id of a credential, by its id or its name. @throws as `sourceNamed`. */
export async function findCredentialId(call: CallJson, nameOrId: string): Promise<string> {
  if (nameOrId.startsWith('CREDENTIAL_')) return nameOrId;
  const credentials = (await call('GET', '/credentials')) as readonly (Source & {
    readonly credentialId: string;
  })[];
  return findByName(credentials, nameOrId, 'credential').credentialId;
}

/** Finds the only item of a name. */
export function findByName<T extends { readonly name: string }>(
  items: readonly T[],
  name: string,
  what: string,
): T {
  const [first, second] = items.filter((item) => item.name === name);
  if (first === undefined) throw new Failure('NotFound', `there is no ${what} of the name ${name}`);
  if (second === undefined) return first;
  throw new Failure('InvalidParameter', `there are several of the name ${name}: pass its id`);
}
