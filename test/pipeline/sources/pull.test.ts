// The way in: every kind of definition finds its source, and what breaks a rule is said at once.
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
import { failing, pulled } from './contract.ts';

const dataset: Pull<DatasetDefinition> = () => {
  throw new SourceFailure('the dataset was asked', false);
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
    [{ type: 'DATASET', dataset: 'd' }, undefined, /the dataset was asked/],
  ] as const satisfies readonly (readonly [SourceDefinition, Credential | undefined, RegExp])[]) {
    test(definition.type, () =>
      assert.rejects(pulled({ pull, order: { definition, credential } }), failing(why, false)),
    );
  }
});

describe('what may be said of a definition before it is used', () => {
  for (const [definition, why] of [
    [{ type: 'HTTP', url: 'http://10.0.0.1/' }, /not on the public/],
    [{ type: 'HTTP', url: 'http://a.test/', headers: { host: 'b' } }, /"host" cannot be set/],
    [
      { type: 'HTTP', url: 'http://a.test/', pages: { kind: 'page', parameter: '' } },
      /"pages.parameter"/,
    ],
    [{ type: 'FILE', path: '../a' }, /without \. and \.\./],
    [{ type: 'AWS-S3', awsbucketName: 'a', key: 'b' }, /no name of a bucket/],
    [{ type: 'POSTGRES', query: 'DROP TABLE a' }, /must be one SELECT/],
  ] as const satisfies readonly (readonly [SourceDefinition, RegExp])[]) {
    test(JSON.stringify(definition), () => {
      assert.throws(
        () => {
          checkDefinition(definition, { allowPrivateAddresses: false });
        },
        failing(why, false),
      );
    });
  }
  test('what keeps the rules is let through', () => {
    for (const definition of [
      { type: 'HTTP', url: 'https://a.test/b?c=d' },
      { type: 'FILE', path: 'a/*.csv' },
      { type: 'DATASET', dataset: 'WS.A' },
    ] as const satisfies readonly SourceDefinition[]) {
      checkDefinition(definition, { allowPrivateAddresses: false });
    }
  });
});
