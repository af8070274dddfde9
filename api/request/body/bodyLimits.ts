// Lengths and counts of JSON bodies. Parsing and checking a body holds the event loop, and with it every
// other caller. A route that needs more than a control body names its own maximum here, with the reason.

/** A body that is JSON and no data: a rule, a token, a webhook, a subscription. */
export const CONTROL_BYTES_MAX = 64 * 1024;
/** SQL has at most 100,000 characters, of up to 4 bytes each; a data source may hold a query. */
export const SQL_BODY_BYTES_MAX = 512 * 1024;
/** 1,000 properties, expectations of 200,000 characters, 1,000 shares and four texts of 10,000 characters. */
export const DATASET_BYTES_MAX = 1024 ** 2;
/** 1,000 columns with the properties that they are loaded into, both of up to 256 characters. */
export const COLUMNS_BYTES_MAX = 512 * 1024;
/** 1,000 grants, each with a workspace and a dataset of up to 128 characters. */
export const GRANTS_BYTES_MAX = 512 * 1024;
/** An agent's call, which may hold SQL. */
export const MCP_BYTES_MAX = SQL_BODY_BYTES_MAX;
/** The protocol's own library reads each value again, 20,000 in 45 ms; no tool takes over 100. */
export const MCP_VALUES_MAX = 5_000;
/** Messages of an agent's batch: those of 100 calls hold the loop for 30 to 80 ms. */
export const MCP_MESSAGES_MAX = 20;
/** Records that are pushed; more of them are a load, which a process of its own decodes. */
export const PUSH_BYTES_MAX = 1024 ** 2;
/** 100,000 names that all differ take 80 ms to parse; a body of more values is a load as well. */
export const PUSH_VALUES_MAX = 40_000;

/** Of an endpoint's JSON body; undefined where it has none, or takes data as it comes. */
export const jsonBytesMax = (
  body: { readonly kind: string; readonly bytesMax?: number } | undefined,
): number | undefined =>
  body === undefined || body.kind === 'file' ? undefined : (body.bytesMax ?? CONTROL_BYTES_MAX);

/** Levels of objects and lists: bodies have at most ten, and every reader of a body is recursive. */
export const DEPTH_MAX = 32;
/** Values of one body: a dataset of 1,000 properties has 5,000, and lists of allowed values. */
export const VALUES_MAX = 20_000;
/** Items of a list and members of an object whose schema names no maximum of its own. */
export const ITEMS_MAX = 1_000;
/** Faults of a body that its refusal names; the others are counted. */
export const FAULTS_SHOWN = 3;
