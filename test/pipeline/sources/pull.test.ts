// The entry of pulls: every kind of definition finds its source, and a broken rule is reported immediately.
import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { checkDefinition, makePull } from '../../../pipeline/sources/pull.ts';
import {
  type Credential,
  type DatasetDefinition,
  type Pull,
  type SourceDefinition,
  SourceFailure,
} from '../../../pipeline/sources/base/source.ts';
import { loaded, send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { failing, pulled } from './contract.ts';

const dataset: Pull<DatasetDefinition> = () => {
  throw new SourceFailure('the dataset was read', false);
};
const pull = makePull({
  allowPrivateAddresses: false,
  sourceFolder: undefined,
  sourceTimeoutMs: 1_000,
  firstAccountId: undefined,
  dataset,
});

const KEY: Credential = { type: 'AWS-S3', accessKeyId: 'a', secretAccessKey: 'b' };
const LOGIN = {
  type: 'POSTGRES',
  host: '127.0.0.1',
  database: 'd',
  user: 'u',
  password: 'p',
} as const;

describe('every kind, with the settings of the server', () => {
  for (const [definition, credential, why] of [
    [
      { type: 'HTTP', url: 'http://127.0.0.1/' },
      undefined,
      /TAPEDECK_ALLOW_PRIVATE_ADDRESSES is off/,
    ],
    [{ type: 'FILE', path: 'a' }, undefined, /TAPEDECK_SOURCE_FOLDER is not set/],
    [
      { type: 'AWS-S3', awsbucketName: 'abc', key: 'k', endpoint: 'http://[::1]' },
      KEY,
      /TAPEDECK_ALLOW_PRIVATE_ADDRESSES is off/,
    ],
    [{ type: 'POSTGRES', table: 't' }, LOGIN, /TAPEDECK_ALLOW_PRIVATE_ADDRESSES is off/],
    [{ type: 'DATASET', dataset: 'd' }, undefined, /the dataset was read/],
  ] as const satisfies readonly (readonly [SourceDefinition, Credential | undefined, RegExp])[]) {
    test(definition.type, () =>
      assert.rejects(pulled({ pull, order: { definition, credential } }), failing(why, false)),
    );
  }
});

describe('checks of a definition before its use', () => {
  for (const [definition, why] of [
    [{ type: 'HTTP', url: 'http://10.0.0.1/' }, /not on the public/],
    [{ type: 'HTTP', url: 'http://a.test/', headers: { host: 'b' } }, /"host" cannot be set/],
    [
      { type: 'HTTP', url: 'http://a.test/', pages: { kind: 'page', parameter: '' } },
      /"pages.parameter"/,
    ],
    [{ type: 'FILE', path: '../a' }, /without \. and \.\./],
    [{ type: 'FILE', path: 'a' }, /TAPEDECK_SOURCE_FOLDER is not set/],
    [{ type: 'AWS-S3', awsbucketName: 'a', key: 'b' }, /no name of a bucket/],
    [{ type: 'POSTGRES', query: 'DROP TABLE a' }, /must be one SELECT/],
  ] as const satisfies readonly (readonly [SourceDefinition, RegExp])[]) {
    test(JSON.stringify(definition), () => {
      assert.throws(
        () => {
          checkDefinition(definition, { allowPrivateAddresses: false, sourceFolder: undefined });
        },
        failing(why, false),
      );
    });
  }
  test('a valid definition is accepted', () => {
    for (const definition of [
      { type: 'HTTP', url: 'https://a.test/b?c=d' },
      { type: 'FILE', path: 'a/*.csv' },
      { type: 'DATASET', dataset: 'WS.A' },
    ] as const satisfies readonly SourceDefinition[]) {
      checkDefinition(definition, { allowPrivateAddresses: false, sourceFolder: '/srv/sources' });
    }
  });
});

test('a source of files is refused where no folder is open to sources', async () => {
  const file = { type: 'FILE', path: 'a.csv' };
  const capture = { type: 'CAPTURE', path: 'a.pcap', dataset: 'TRADES' };
  await using server = await startServer();
  const url = await send(server, 'POST', '/data-sources/WS', {
    type: 'HTTP',
    url: 'https://a.example/a.csv',
  });
  assert.equal(url.status, 200, url.text);
  const { dataSourceId: id } = JSON.parse(url.text) as { readonly dataSourceId: string };
  for (const [method, path, body] of [
    ['POST', '/data-sources/WS', file],
    ['POST', '/data-sources/CORE', capture],
    ['PUT', `/data-sources/WS/${id}`, file],
  ] as const) {
    const { status, text } = await send(server, method, path, body);
    assert.deepEqual(
      [status, text.includes('TAPEDECK_SOURCE_FOLDER is not set')],
      [400, true],
      text,
    );
  }
  const target = { dataset: 'D', format: 'csv', target: { type: 'FILE', path: 'out' } };
  await loaded(server, 'D', 'a,b\n1,2\n');
  const exported = await send(server, 'POST', '/exports/WS', target);
  assert.match(exported.text, /TAPEDECK_EXPORT_FOLDER is not set/);
});
