// Before each file of the contract: its servers keep their catalogs in PostgreSQL.
import assert from 'node:assert/strict';
import { afterAll, beforeEach } from 'vitest';
import { CATALOGS } from '../../../base/catalogElsewhere.ts';
import { POSTGRES_URL } from './contract.ts';

const url = process.env[POSTGRES_URL] ?? '';
const MISSING = 'PostgreSQL is not on this machine (Debian: postgresql)';
if (url === '') assert.notEqual(process.env['CI'], 'true', MISSING);

process.env[CATALOGS] = url;
// Another file may run in this process.
afterAll(() => void delete process.env[CATALOGS]);

beforeEach(({ skip }) => {
  if (url === '') skip(MISSING);
});
