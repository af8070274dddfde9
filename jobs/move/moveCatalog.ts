// The catalog goes from one engine to another, with every version, charge and job in it.
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import { type Copied, copyCatalog } from '../../store/catalog/copyCatalog.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Database } from '../../store/catalog/database.ts';
import { catalogHead } from '../../store/files/catalogCheck.ts';

export interface CatalogMoved {
  /** Undefined where it had arrived before. */
  readonly copied: Copied | undefined;
  /** Where the one is that it was moved from. */
  readonly aside: string;
}

/**
 * Nobody serves either of them meanwhile.
 * @throws Failure Conflict when there is nothing to move, or the target has another catalog
 */
export async function moveCatalog(
  from: CatalogPlace,
  to: CatalogPlace,
  nowMs: number,
): Promise<CatalogMoved> {
  if (!(await from.isThere())) throw new Failure('Conflict', `${from.name} is not there`);
  const copied = await withOpen(to, async (target) => {
    const held = await from.openMoment();
    try {
      const source = await catalogHead(held.database);
      const known = await catalogHead(target);
      if (source === undefined) throw new Failure('Conflict', `${from.name} was never served`);
      if (known !== undefined) {
        if (known.lake === source.lake && known.snapshot >= source.snapshot) return undefined;
        const what = known.lake === source.lake ? 'an older state of it' : 'another catalog';
        throw new Failure('Conflict', `${to.name} has ${what}: nothing was moved`);
      }
      const order = { from: held.database, pagesFrom: from.pages, to: target, pagesTo: to.pages };
      return await copyCatalog(order);
    } finally {
      await held.close();
    }
  });
  return { copied, aside: await from.setAside(nowMs) };
}

async function withOpen<T>(
  place: CatalogPlace,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = place.open();
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}
