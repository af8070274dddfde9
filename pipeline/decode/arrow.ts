// Opens Arrow files and streams. DuckDB does not read them, so a child process writes their batches as JSON
// lines, one batch in memory at a time, with the types of the Arrow schema.
import { join } from 'node:path';
import { checkPropertyNames } from '../../store/lake/versions/columns.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Binary } from '../bytes/reading.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { describeNoNumbers } from '../values/nestedValues.ts';
import type { Relation } from '../values/relation.ts';
import { decode } from './child/decoders.ts';

/** @throws Failure InvalidBody for a damaged file, or one with types that records cannot have. */
export async function arrowRelation(
  from: string,
  isFile: boolean,
  binary: Binary | undefined,
  bench: Workbench,
): Promise<Relation> {
  const path = join(bench.folder, newUuid());
  const bytesOption = binary === undefined ? {} : { binary };
  const answer = await decode({ kind: 'arrow', from, to: path, isFile, ...bytesOption }, bench);
  const decoded = answer.kind === 'columns' ? answer.columns : [];
  checkPropertyNames(
    'the file',
    decoded.map(({ name }) => name),
  );
  const columns = decoded.map(({ name, property }) => ({
    name,
    inferred: { property, spelling: undefined, numeric: undefined },
  }));
  const notes = decoded.flatMap(({ name, noNumbers }) =>
    noNumbers === undefined ? [] : [describeNoNumbers(name, noNumbers.count, noNumbers.first)],
  );
  return { kind: 'json', path, framing: 'lines', jsonPath: '$[*]', columns, notes };
}
