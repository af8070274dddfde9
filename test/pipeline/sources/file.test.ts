// Files of the folder of sources: new files, files outside of it, files that change while they are read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { checkSourcePath, filePull } from '../../../pipeline/sources/file.ts';
import type { Pull } from '../../../pipeline/sources/base/source.ts';
import { failing, OWNER, pulled, recordsOf, type World } from './contract.ts';
import { runContract } from './contractCases.ts';

interface FileWorld extends World {
  readonly folder: string;
  /** Writes a file, by default one second newer than the one before. */
  write(name: string, text: string, second?: number): Promise<string>;
}

/** The account whose folder is the opened one itself. */
const FIRST = { firstAccountId: OWNER.accountId };

async function startWorld(path = 'prices/*.jsonl'): Promise<FileWorld> {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-files-'));
  const folder = join(root, 'sources');
  await mkdir(join(folder, 'prices'), { recursive: true });
  await writeFile(join(root, 'secret.jsonl'), 'secret');
  await symlink(join(root, 'secret.jsonl'), join(folder, 'out.jsonl'));
  await symlink(root, join(folder, 'up'));
  let seconds = 1_000;
  const write = async (name: string, text: string, second = (seconds += 1)): Promise<string> => {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await utimes(file, second, second);
    return file;
  };
  const of = (sourcePath: string) => ({ definition: { type: 'FILE', path: sourcePath } }) as const;
  const pull = filePull({ sourceFolder: folder, deadlineMs: 20_000, ...FIRST }) as Pull;
  return {
    folder,
    write,
    pull,
    impatient: pull,
    order: { ...of(path), credential: undefined },
    add: async (batch, bytes) => {
      // Written while it is generated: the test must not measure its own memory.
      const file = await write(`prices/b${batch}.jsonl`, '');
      for (const record of recordsOf(batch, bytes)) appendFileSync(file, `${record}\n`);
      await utimes(file, seconds, seconds);
    },
    refused: {
      'a file that is not there': {
        order: of('prices/none.jsonl'),
        why: /^prices\/none.jsonl is not there/,
      },
      'a folder that is not there': { order: of('none/*.jsonl'), why: /^none is not there/ },
      'a folder instead of a file': { order: of('prices'), why: /^prices is no file/ },
      'a link that leads out': { order: of('out.jsonl'), why: /out.jsonl leads out of/ },
      'a folder that leads out': { order: of('up/secret.jsonl'), why: /leads out of/ },
      'a pattern behind it': { order: of('up/*'), why: /^up leads out of/ },
      'the folder above': { order: of('../secret.jsonl'), why: /without \. and \.\./ },
      'an absolute path': { order: of(join(root, 'secret.jsonl')), why: /is relative to/ },
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

runContract({ name: 'FILE', sends: 'each', untilRecords: 0, start: () => startWorld() });

test('without its setting, no file is read', async () => {
  await using world = await startWorld();
  for (const [sourceFolder, why] of [
    [undefined, /TAPEDECK_SOURCE_FOLDER is not set/],
    [join(world.folder, 'none'), /TAPEDECK_SOURCE_FOLDER is not there/],
  ] as const) {
    const pull = filePull({ sourceFolder, deadlineMs: 1_000, ...FIRST }) as Pull;
    await assert.rejects(pulled(world, { pull }), failing(why, false));
  }
});

test('the folder itself may be a link, and links within it are followed', async () => {
  await using world = await startWorld('*/latest.jsonl');
  await world.write('prices/b1.jsonl', 'one');
  await symlink('b1.jsonl', join(world.folder, 'prices', 'latest.jsonl'));
  const link = join(dirname(world.folder), 'link');
  await symlink(world.folder, link);
  // `up` leads out, and is refused wherever a pattern would pass it.
  await rm(join(world.folder, 'up'));
  const pull = filePull({ sourceFolder: link, deadlineMs: 1_000, ...FIRST }) as Pull;
  const { names, texts } = await pulled(world, { pull });
  assert.deepEqual([names, texts], [['prices/latest.jsonl'], ['one']]);
});

test('a link that can not be followed stops no other file, and is reported', async () => {
  await using world = await startWorld();
  await world.write('prices/a.jsonl', 'a');
  await world.write('top.jsonl', 'top');
  const links = {
    'prices/nowhere.jsonl': '/nowhere/at/all',
    'prices/loop.jsonl': 'loop.jsonl',
    'prices/out.jsonl': '../../secret.jsonl',
    'prices/under.jsonl': '/etc/hosts/x',
    'gone.jsonl': 'gone',
    around: 'around',
  };
  for (const [name, to] of Object.entries(links)) await symlink(to, join(world.folder, name));
  const ask = async (path: string): Promise<readonly [readonly string[], string]> => {
    const notes: string[] = [];
    const order = { definition: { type: 'FILE', path } } as const;
    const landing = { onNote: (note: string): void => void notes.push(note) };
    const { names } = await pulled(world, { order, landing });
    return [names, notes.sort().join('\n')];
  };
  const [names, notes] = await ask('prices/*.jsonl');
  assert.deepEqual(names, ['prices/a.jsonl']);
  assert.equal(
    notes,
    [
      'prices/loop.jsonl is left out: prices/loop.jsonl cannot be read: ELOOP',
      'prices/nowhere.jsonl is left out: prices/nowhere.jsonl is not there',
      "prices/out.jsonl is left out: prices/out.jsonl leads out of the account's TAPEDECK_SOURCE_FOLDER",
      'prices/under.jsonl is left out: prices/under.jsonl is not there',
    ].join('\n'),
  );
  assert.deepEqual((await ask('*/a.jsonl'))[0], ['prices/a.jsonl']);
  assert.deepEqual((await ask('*.jsonl'))[0], ['top.jsonl']);
  assert.deepEqual((await ask('*/*.jsonl'))[0], ['prices/a.jsonl']);
  await assert.rejects(ask('prices/out.jsonl'), failing(/leads out of/, false));
  await assert.rejects(ask('prices/nowhere.jsonl'), failing(/is not there/, false));
  for (let at = 0; at < 30; at += 1) {
    await symlink('/nowhere', join(world.folder, `prices/n${at}.jsonl`));
  }
  assert.equal((await ask('prices/*.jsonl'))[1].split('\n').length, 21, 'the first ones, and more');
});

test('an account reads its own folder, and the first one all but the folders of others', async () => {
  await using world = await startWorld();
  const [second, third] = ['0123456789abcdef', 'fedcba9876543210'];
  await world.write('x.csv', 'first');
  await world.write('sub/x.csv', 'sub');
  await world.write(`${second}/x.csv`, 'second');
  await world.write(`${second}/sub/x.csv`, 'second sub');
  await symlink('../x.csv', join(world.folder, second, 'up.csv'));
  await symlink(`${second}/x.csv`, join(world.folder, 'into.csv'));
  const ask = async (accountId: string, path: string): Promise<readonly string[]> => {
    const owner = { ...OWNER, accountId };
    return (await pulled(world, { order: { definition: { type: 'FILE', path }, owner } })).texts;
  };
  assert.deepEqual(await ask(second, 'x.csv'), ['second']);
  assert.deepEqual(await ask(second, '*.csv'), ['second']);
  assert.deepEqual(await ask(second, '*/*.csv'), ['second sub']);
  await assert.rejects(ask(second, 'up.csv'), failing(/leads out of the account's/, false));
  await assert.rejects(ask(third, '*'), failing(/those of fedcba9876543210\/ in/, false));
  assert.deepEqual(await ask(OWNER.accountId, '*.csv'), ['first']);
  assert.deepEqual(await ask(OWNER.accountId, '*/x.csv'), ['sub']);
  for (const path of [`${second}/x.csv`, `${second}/*`, `${second.toUpperCase()}/*`, 'into.csv']) {
    const rule = /is in the folder of another account|is not there/;
    await assert.rejects(ask(OWNER.accountId, path), failing(rule, false), path);
  }
});

test('a pattern names files, not folders, pipes, or files that are being written', async () => {
  await using world = await startWorld('a?/[x-z]*/*.csv');
  await world.write('a1/x/2.csv', '2');
  await world.write('a2/z1/1.csv', '1', 900);
  await world.write('a1/w/no.csv', '');
  await world.write('a12/x/no.csv', '');
  await world.write('a1/x/.no.csv', '');
  await world.write('a1/x/no.csv.part', '');
  await world.write('a1/y', 'no folder');
  await mkdir(join(world.folder, 'a1/x/dir.csv'));
  execFileSync('mkfifo', [join(world.folder, 'a1/x/pipe.csv')]);
  assert.deepEqual((await pulled(world)).names, ['a2/z1/1.csv', 'a1/x/2.csv']);
});

test('a file that arrives late with an old time is new', async () => {
  await using world = await startWorld();
  await world.write('prices/b.jsonl', 'b', 2_000);
  const { position } = await pulled(world);
  await world.write('prices/a.jsonl', 'a', 1_000);
  await world.write('prices/c.jsonl', 'c', 2_000);
  const second = await pulled(world, { since: position });
  assert.deepEqual(second.texts, ['a', 'c']);
  assert.deepEqual((await pulled(world, { since: second.position })).texts, []);
});

test('a file that changed is new, and one that was only removed is not', async () => {
  await using world = await startWorld();
  await world.write('prices/a.jsonl', 'a');
  await world.write('prices/b.jsonl', 'b');
  const { position } = await pulled(world);
  unlinkSync(join(world.folder, 'prices/a.jsonl'));
  assert.deepEqual((await pulled(world, { since: position })).texts, []);
  await world.write('prices/b.jsonl', 'B');
  assert.deepEqual((await pulled(world, { since: position })).texts, ['B']);
});

describe('a file that changes while it is read is worth another try', () => {
  const BYTES = 3_000_000;
  for (const [name, change] of [
    ['grows', (file: string) => appendFileSync(file, 'more')],
    ['shrinks', (file: string) => truncateSync(file, 2_500_000)],
    ['is rewritten', (file: string) => writeFileSync(file, Buffer.alloc(BYTES))],
    [
      'is replaced',
      (file: string) => (writeFileSync(`${file}.new`, 'n'), renameSync(`${file}.new`, file)),
    ],
    ['goes', (file: string) => unlinkSync(file)],
  ] as const) {
    test(name, async () => {
      await using world = await startWorld();
      const file = await world.write('prices/a.jsonl', 'a'.repeat(BYTES));
      let changed = false;
      const onBytes = (): void => {
        if (!changed) change(file);
        changed = true;
      };
      const sent = pulled(world, { landing: { onBytes } });
      await assert.rejects(sent, failing(/a\.jsonl (changed|has gone) while it was read/, true));
    });
  }

  test('also before it is read', async () => {
    await using world = await startWorld();
    await world.write('prices/a.jsonl', 'a');
    const second = await world.write('prices/b.jsonl', 'b');
    const onBytes = (): void => unlinkSync(second);
    const sent = pulled(world, { landing: { onBytes } });
    await assert.rejects(sent, failing(/b\.jsonl has gone while it was read/, true));
    await appendFile(second, 'b');
  });
});

test('progress reports the bytes read and the total', async () => {
  await using world = await startWorld();
  for (const [name, text] of [
    ['a', 'aaa'],
    ['b', 'bb'],
  ] as const)
    await world.write(`prices/${name}.jsonl`, text);
  const progress: unknown[] = [];
  const onBytes = (bytes: number, ofBytes: number | undefined): void =>
    void progress.push([bytes, ofBytes]);
  await pulled(world, { landing: { onBytes } });
  assert.deepEqual(progress, [
    [3, 5],
    [5, 5],
  ]);
});

test('a copy that takes too long ends', async () => {
  await using world = await startWorld();
  await world.write('prices/a.jsonl', 'a'.repeat(3_000_000));
  const pull = filePull({ sourceFolder: world.folder, deadlineMs: 60, ...FIRST }) as Pull;
  const slow = (): void => {
    const until = performance.now() + 100;
    while (performance.now() < until);
  };
  await assert.rejects(
    pulled(world, { pull, landing: { onBytes: slow } }),
    failing(/longer than 60 ms/, true),
  );
});

test('valid and invalid paths', () => {
  for (const path of ['a.csv', 'a/b.csv', 'a/*.csv', '[a]/?.csv', '..a/b..', 'é/ü ö.csv']) {
    checkSourcePath(path);
  }
  for (const path of [
    '',
    '/a',
    'a//b',
    './a',
    'a/..',
    'a/../b',
    '..',
    'a/',
    'a\0',
    '[a',
    'x'.repeat(1_025),
  ]) {
    assert.throws(
      () => {
        checkSourcePath(path);
      },
      failing(/a path|a pattern/, false),
    );
  }
});
