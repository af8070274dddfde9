// Upstream feeds of this server: one for each active data source of a feed.
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import { Failure } from '../../store/base/failure.ts';
import { findFeedPosition, saveFeedPosition } from '../../store/work/feedPositions.ts';
import { type DataSourceRow, listSourcesOfTypes } from '../../store/work/dataSources.ts';
import type {
  Credential,
  FollowedDefinition,
  SourceDefinition,
} from '../../pipeline/sources/base/source.ts';
import type { CaptureOrder, CaptureCounts } from './captureMessages.ts';
import type { FeedMessage, FeedOrder } from '../../pipeline/sources/feed/feedOrder.ts';
import { Feed } from './feed.ts';
import { type WriteOutcome, Upstream, type UpstreamParts } from './upstream.ts';

/** Most feeds of a server. */
const FEEDS_MAX = 100;
const TYPES = ['SSE', 'WEBSOCKET', 'CAPTURE'];

interface UpstreamsParts {
  readonly clock: Clock;
  readonly database: Database;
  readonly messages: (order: FeedOrder) => AsyncIterable<FeedMessage>;
  readonly captured: (
    row: DataSourceRow,
    order: CaptureOrder,
    onCounts: (counts: CaptureCounts) => void,
  ) => AsyncIterable<FeedMessage>;
  readonly credentialOf: (row: DataSourceRow) => Promise<Credential | undefined>;
  readonly write: (
    row: DataSourceRow,
    definition: FollowedDefinition,
    records: Parameters<UpstreamParts['write']>[0],
  ) => Promise<WriteOutcome>;
  readonly onFault: (row: DataSourceRow, reason: unknown) => void;
}

interface Followed {
  readonly row: DataSourceRow;
  readonly feed: Feed;
  readonly upstream: Upstream;
}

/** State of a feed, for its owner. */
interface UpstreamState {
  readonly isRunning: boolean;
  readonly records: number;
  readonly rejected: number;
  /** Why the last rejected record was. */
  readonly rejectReason: string | null;
  /** Time of the last stored record. */
  readonly lastStored: number | null;
  readonly restarts: number;
  /** Why it does not run. */
  readonly fault: string | null;
  /** Of a recording: its counts, with missing and duplicate messages, and whether it is over. */
  readonly capture?: CaptureCounts;
}

export class Upstreams {
  readonly #parts: UpstreamsParts;
  readonly #followed = new Map<string, Followed>();
  #isStarted = false;

  constructor(parts: UpstreamsParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    const rows = await listSourcesOfTypes(this.#parts.database, TYPES);
    for (const row of rows) await this.refollow(row);
  }

  /** @throws Failure LimitReached where one more is not allowed. */
  checkRoom({ type }: Pick<SourceDefinition, 'type'>): void {
    if (!TYPES.includes(type) || this.#followed.size < FEEDS_MAX) return;
    const message = `a server has at most ${FEEDS_MAX} feeds`;
    throw new Failure('LimitReached', message);
  }

  /** Starts the feed of a new or changed source; its previous feed ends first. */
  async refollow(row: DataSourceRow): Promise<void> {
    await this.unfollow(row.source_id);
    if (!this.#isStarted || !TYPES.includes(row.type)) return;
    const definition = JSON.parse(row.definition_json) as FollowedDefinition;
    if (definition.state === 'PAUSED') return;
    const { source_id } = row;
    const from = definition.type === 'CAPTURE' ? definition.path : definition.url;
    const origin = `${from} ${definition.dataset}`;
    const { captured, clock, credentialOf, database, messages, onFault, write } = this.#parts;
    const upstream = new Upstream({
      clock,
      definition,
      position: {
        read: () =>
          findFeedPosition(database, {
            source_id,
            origin,
          }),
        save: (last_id) =>
          saveFeedPosition(database, {
            source_id,
            origin,
            last_id,
          }),
      },
      open: async function* (lastId, { onOpen, onCounts, signal }) {
        const order = {
          lastId,
          signal,
          onOpen,
        };
        if (definition.type === 'CAPTURE') {
          yield* captured(
            row,
            {
              ...order,
              credential: undefined,
              definition,
            },
            onCounts,
          );
        } else {
          yield* messages({
            ...order,
            credential: await credentialOf(row),
            definition,
          });
        }
      },
      write: (records) => write(row, definition, records),
    });
    const feed = new Feed({
      name: `${row.workspace}/${row.name}`,
      play: (playing) => upstream.play(playing),
      onFault: (reason) => onFault(row, reason),
    });
    this.#followed.set(row.source_id, { row, feed, upstream });
    void feed.start();
  }

  async unfollow(sourceId: string): Promise<void> {
    const followed = this.#followed.get(sourceId);
    this.#followed.delete(sourceId);
    await followed?.feed.stop();
  }

  /** Undefined where it is not followed. */
  state(sourceId: string): UpstreamState | undefined {
    const followed = this.#followed.get(sourceId);
    return followed && stateOf(followed);
  }

  all(): readonly (UpstreamState & Pick<DataSourceRow, 'name' | 'workspace'>)[] {
    return [...this.#followed.values()].map((followed) => {
      const { name, workspace } = followed.row;
      return { name, workspace, ...stateOf(followed) };
    });
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    await Promise.all([...this.#followed.keys()].map((id) => this.unfollow(id)));
  }
}

function stateOf({ feed, upstream }: Followed): UpstreamState {
  const { fault = null, isRunning, restarts } = feed.state();
  const { capture, reason = null, records, rejected, storedMs = null } = upstream.counts();
  const counted = { records, rejected, rejectReason: reason, lastStored: storedMs };
  const ofCapture = capture === undefined ? {} : { capture };
  return { isRunning, ...counted, restarts, fault, ...ofCapture };
}
