// vectors.py alone computed the vectors; the verdicts of the server must be those that they expect.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { beginSignatureCheck, type SignedRequest } from '../../../api/auth/signing.ts';
import { hashBody } from '../../../store/base/bodyHash.ts';
import { Failure } from '../../../store/base/failure.ts';

interface Vector extends Omit<SignedRequest, 'date' | 'authorization'> {
  readonly name: string;
  readonly date: string | null;
  readonly authorization: string | null;
  readonly body: string;
  readonly secret: string;
  readonly nowMs: number;
  readonly brand: string;
  readonly expect: string;
}

const VECTORS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8'),
) as readonly Vector[];

function verdict({ body, secret, brand, nowMs, ...request }: Vector): string {
  const { date, authorization } = request;
  const signed = { ...request, date: date ?? undefined, authorization: authorization ?? undefined };
  try {
    beginSignatureCheck(signed, secret, brand, nowMs)(hashBody(body));
    return 'valid';
  } catch (error) {
    return error instanceof Failure ? error.type : String(error);
  }
}

test('the server judges every vector as expected', () => {
  assert.ok(VECTORS.length >= 80);
  const wrong = VECTORS.filter((vector) => verdict(vector) !== vector.expect).map(
    (vector) => `${vector.name}: ${verdict(vector)}, not ${vector.expect}`,
  );
  assert.deepEqual(wrong, []);
});
