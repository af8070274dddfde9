// The catalog goes from one engine to another, with every version, charge and job in it.
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import {
  type Copied,
  copyCatalog,
  type CopyOrder,
  differentTable,
} from '../../store/catalog/copyCatalog.ts';
import { Failure } from '../../store/base/failure.ts';
import { closing } from '../../store/catalog/database.ts';
import { catalogHead } from '../../store/files/catalogCheck.ts';

export interface CatalogMoved {
  /** Undefined where it had arrived before. */
  readonly copied: Copied | undefined;
  /** Where the one is that it was moved from. */
  readonly aside: string;
}

/**
 * Holds both of them: nobody serves one meanwhile.
 * @throws Failure Conflict when there is nothing to move, or the target has another catalog; Busy when one
 * is served
 */
export async function moveCatalog(
  from: CatalogPlace,
  to: CatalogPlace,
  nowMs: number,
): Promise<CatalogMoved> {
  if (!(await from.isThere())) throw new Failure('Conflict', `${from.name} is not there`);
  return closing(from.open(), async (source) => {
    const head = await catalogHead(source);
    if (head === undefined) throw new Failure('Conflict', `${from.name} was never served`);
    const copied = await arrived(from, to);
    return { copied, aside: await from.setAside(source, nowMs) };
  });
}

/** Undefined where all of it was there. What was begun and is nothing goes again. */
async function arrived(from: CatalogPlace, to: CatalogPlace): Promise<Copied | undefined> {
  const wasThere = await to.isThere();
  try {
    return await closing(to.open(), async (target) => {
      const held = await from.openMoment();
      try {
        const order = { from: held.database, pagesFrom: from.pages, to: target, pagesTo: to.pages };
        const known = await catalogHead(target);
        if (known === undefined) return await copyCatalog(order);
        await refuseOther(order, to);
        return undefined;
      } finally {
        await held.close();
      }
    });
  } catch (error) {
    if (!wasThere) await to.discard();
    throw error;
  }
}

/** An earlier run may have ended between the copy and the end: then both say the same, to the last row. */
async function refuseOther(order: CopyOrder, to: CatalogPlace): Promise<void> {
  const table = await differentTable(order);
  if (table === undefined) return;
  const rule = 'take away the one that is not to go on';
  const what = `another catalog, or another state of this one (table ${table} differs)`;
  throw new Failure('Conflict', `${to.name} has ${what}: nothing was moved; ${rule}`);
}
