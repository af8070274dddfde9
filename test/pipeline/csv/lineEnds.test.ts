// Line breaks of every kind within quotes are part of their cells, beside every kind of line end.
import { expect } from 'vitest';
import { loaded, read } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';

const BREAKS = ['\r', '\n', '\r\n'];

test('line breaks within quotes are kept', async ({ server }) => {
  for (const [at, end] of BREAKS.entries()) {
    const cells = [...BREAKS.map((one) => `x${one}y`), 'plain', '\rfirst', 'last\r'];
    const rows = cells.map((cell, row) => `${row},"${cell}"`);
    const id = `ENDS_${at}`;
    const job = await loaded(server, id, ['id,a', ...rows, ''].join(end), { key: 'id' });
    expect([id, job.recordsIngested, job.recordsInvalid]).toEqual([id, cells.length, 0]);
    const stored = JSON.parse(await read(server, `/data/WS/${id}?limit=9&filter=id,a`)) as object[];
    expect([id, stored]).toEqual([id, cells.map((a, row) => ({ id: row, a }))]);
  }
});
