// Defines maximum lengths and counts of JSON bodies. Parsing and checking a body blocks the event loop, and
// with it every other caller. A route that needs more than a control body has its own maximum here, with the
// reason.

/** Control bodies, which contain no data: a rule, a token, a webhook, a subscription. */
export const CONTROL_BYTES_MAX = 64 * 1024;
/** SQL has at most 100,000 characters, of up to 4 bytes each; a data source may contain a query. */
export const SQL_BODY_BYTES_MAX = 512 * 1024;
/** 1,000 properties, expectations of 200,000 characters, 1,000 shares and four texts of 10,000 characters. */
export const DATASET_BYTES_MAX = 1024 ** 2;
/** 1,000 columns with their target properties, both of up to 256 characters. */
export const COLUMNS_BYTES_MAX = 512 * 1024;
/** 1,000 grants, each with a workspace and a dataset of up to 128 characters. */
export const GRANTS_BYTES_MAX = 512 * 1024;
/** An agent's call, which may contain SQL. */
export const MCP_BYTES_MAX = SQL_BODY_BYTES_MAX;
/** The protocol's own library reads each value again, 20,000 in 45 ms; no tool accepts over 100. */
export const MCP_VALUES_MAX = 5_000;
/** Messages of an agent's batch: those of 100 calls block the loop for 30 to 80 ms. */
export const MCP_MESSAGES_MAX = 20;
/** Pushed records; larger bodies need a load, which a separate process decodes. */
export const PUSH_BYTES_MAX = 1024 ** 2;
/** 100,000 distinct names take 80 ms to parse; larger bodies need a load too. */
export const PUSH_VALUES_MAX = 40_000;

/** Maximum bytes of an endpoint's JSON body; undefined if it has none, or streams a file. */
export const jsonBytesMax = (
  body: { readonly kind: string; readonly bytesMax?: number } | undefined,
): number | undefined =>
  body === undefined || body.kind === 'file' ? undefined : (body.bytesMax ?? CONTROL_BYTES_MAX);

/** Maximum levels of objects and lists: bodies have at most ten, and every reader of a body is recursive. */
export const DEPTH_MAX = 32;
/** Maximum values of one body: a dataset of 1,000 properties has 5,000, and lists of allowed values. */
export const VALUES_MAX = 20_000;
/** Maximum items of a list and members of an object whose schema has no maximum. */
export const ITEMS_MAX = 1_000;
/** Faults that the refusal of a body names; further ones are only counted. */
export const FAULTS_SHOWN = 3;
