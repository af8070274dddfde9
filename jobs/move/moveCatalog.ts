// Moves the catalog from one engine to another, with every version, charge and job in it.
import { type CatalogPlace, REMOVE_ONE } from '../../store/catalog/catalogPlace.ts';
import {
  type CopyResult,
  copyCatalog,
  type CopyOrder,
  findDifferentTable,
} from '../../store/catalog/copyCatalog.ts';
import { Failure } from '../../store/base/failure.ts';
import { withDatabase } from '../../store/catalog/database.ts';
import { readCatalogHead } from '../../store/files/catalogCheck.ts';

export interface CatalogMoved {
  /** Undefined where an earlier run had copied it. */
  readonly copied: CopyResult | undefined;
  /** Name of the catalog that was set aside. */
  readonly aside: string;
}

/**
 * Locks both catalogs: neither is served meanwhile.
 * @throws Failure Conflict when there is nothing to move, or the target has another catalog; Busy when one is
 * served
 */
export async function moveCatalog(
  from: CatalogPlace,
  to: CatalogPlace,
  nowMs: number,
): Promise<CatalogMoved> {
  if (!(await from.exists())) throw new Failure('Conflict', `${from.name} is not there`);
  return withDatabase(from.open(), async (source) => {
    const head = await readCatalogHead(source);
    if (head === undefined) throw new Failure('Conflict', `${from.name} was never served`);
    const copied = await copyUnlessPresent(from, to);
    return { copied, aside: await from.setAside(source, nowMs) };
  });
}

/** Copies the catalog; undefined where all of it was copied before. An incomplete copy is discarded. */
async function copyUnlessPresent(
  from: CatalogPlace,
  to: CatalogPlace,
): Promise<CopyResult | undefined> {
  const wasThere = await to.exists();
  try {
    return await withDatabase(to.open(), async (target) => {
      const moment = await from.openSnapshot();
      try {
        const order = {
          from: moment.database,
          pagesFrom: from.readPages,
          to: target,
          pagesTo: to.readPages,
        };
        const targetHead = await readCatalogHead(target);
        if (targetHead === undefined) return await copyCatalog(order);
        await refuseOther(order, to);
        return undefined;
      } finally {
        await moment.close();
      }
    });
  } catch (error) {
    if (!wasThere) await to.discard();
    throw error;
  }
}

/** An earlier run may have ended after the copy: then both catalogs are equal to the last row. */
async function refuseOther(order: CopyOrder, to: CatalogPlace): Promise<void> {
  const table = await findDifferentTable(order);
  if (table === undefined) return;
  const what = `another catalog, or another state of this one (table ${table} differs)`;
  throw new Failure('Conflict', `${to.name} has ${what}: nothing was moved; ${REMOVE_ONE}`);
}
