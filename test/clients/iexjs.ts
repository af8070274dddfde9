// The official JavaScript client, unmodified, with the types that its package lacks.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

type Arguments = Readonly<Record<string, unknown>>;
type Method = (options: Arguments, standard?: Arguments) => Promise<unknown>;

export interface Client {
  readonly apperate: Readonly<Record<string, Method | undefined>>;
  readonly timeSeries: Method;
  readonly batch: Method;
  readonly timeSeriesInventory: Method;
  readonly messageBudget: (totalMessages: unknown, format?: string) => Promise<unknown>;
  readonly metadata: (format?: string) => Promise<unknown>;
  readonly usage: (type?: string, format?: string) => Promise<unknown>;
  readonly status: () => Promise<unknown>;
}

interface Package {
  readonly Client: new (options: {
    readonly api_token: string;
    readonly version: string;
  }) => Client;
  /** Sets the address of all clients from now on. */
  readonly overrideUrl: (options: { readonly url?: string }) => void;
  readonly payAsYouGo: (allow: boolean, token: string, version: string) => Promise<unknown>;
  readonly listDatasets: Method;
  readonly files: Method;
}

export const iexjs = createRequire(import.meta.url)('@apperate/iexjs') as Package;

/** The message of the client's error for a refusal. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return String((error as { readonly message?: unknown }).message ?? error);
  }
  assert.fail('the client expected a refusal');
}
