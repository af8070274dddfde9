// What of the interface is served, row by row, each with the transcript that shows it, or `later`.
// `docs/coverage.md` is generated from here; a test looks that every transcript named is there.

interface CoverageRow {
  /** Section of SPEC.md or INTERFACE.md. */
  readonly section: string;
  readonly row: string;
  /** `<file>#<title>` of a block below test/http, or a test file, or `later`. */
  readonly shown: string;
}

const rows = (
  section: string,
  list: readonly (readonly [row: string, shown: string])[],
): readonly CoverageRow[] => list.map(([row, shown]) => ({ section, row, shown }));

const later = (section: string, list: readonly string[]): readonly CoverageRow[] =>
  list.map((row) => ({ section, row, shown: 'later' }));

const SPEC: readonly CoverageRow[] = [
  ...rows('SPEC Common conventions', [
    ['filter', 'read#a workspace may be named'],
    ['format json', 'read#own properties, newest first'],
    ['format csv', 'read#csv by parameter'],
    ['format psv', 'read#psv'],
    ['JSONP', 'read#JSONP'],
    ['messages-used header', 'read#own properties, newest first'],
    ['premium-messages-used header', 'read#own properties, newest first'],
    ['lower-case values', 'read#lower-case id and key, as old clients send them'],
  ]),
  ...rows('SPEC Time series', [
    ['GET /time-series', 'read#the inventory is free'],
    ['GET /time-series/{id}/{key?}/{subkey?}', 'read#one record when no date is given'],
    ['limit, 1 by default', 'read#one record when no date is given'],
    ['from, to', 'read#from and to, both spellings of a date'],
    ['on', 'read#on'],
    ['last', 'read#own properties, newest first'],
    ['first', 'read#first n, oldest first'],
  ]),
  ...later('SPEC Time series', [
    'range',
    'range codes',
    'calendar',
    'subattribute',
    'dateField',
    'interval',
  ]),
  ...rows('SPEC Account', [
    ['GET /account/usage/messages', 'read#usage'],
    ['GET /status', 'failures#status needs no token and is not metered'],
  ]),
  ...later('SPEC Account', [
    'POST /account/messagebudget',
    'GET /account/metadata',
    'POST /account/payasyougo',
    'POST /account/signed',
    'GET /account/signed',
    'usage of rules and alerts',
  ]),
  ...rows('SPEC Workspace datasets', [
    ['GET /data/:workspace/:id/:key?/:subkey?', 'read#own properties, newest first'],
    ['POST /data/:workspace/:id, wait', 'read#load it'],
    ['GET /logs/:workspace', 'jobs#the log'],
    ['GET /openapi-doc', 'openapi#the document'],
    ['renaming', 'datasets#rename'],
    ['reserved prefix _system', 'failures#a dataset with a reserved name'],
    ['schema inferred in one step', 'records#a record makes its dataset'],
  ]),
  ...later('SPEC Workspace datasets', [
    'queryId',
    'views',
    'SQL',
    'credentials, data sources, schedules',
    'export',
    '5 GB of storage',
  ]),
  ...rows('SPEC Authentication', [
    ['no token', 'failures#no token'],
    ['unknown token', 'failures#a wrong token'],
    ['secret token needed', 'failures#a publishable token where a secret one is needed'],
    ['token in a JSON body', 'read#make a dataset'],
  ]),
  ...later('SPEC Authentication', [
    'test tokens and test environment',
    'addresses and referrers',
    'rotation',
    'signed requests',
  ]),
  ...rows('SPEC Errors', [
    ['Not Found', 'failures#an unknown route'],
    ['No Key', 'failures#no token'],
    ['Invalid Key', 'failures#a wrong token'],
    ['Secret Key Required', 'failures#a publishable token where a secret one is needed'],
    ['Over Limit', 'test/store/ledger.test.ts'],
  ]),
  ...rows('SPEC Versioning', [
    ['aliases', 'read#doubled and trailing slashes, an alias of the version, a cache-buster'],
    ['unknown version', 'failures#an unknown version'],
  ]),
  ...later('SPEC other parts', [
    'batch',
    'book',
    'delayed quote',
    'other stock endpoints',
    'data points',
    'files',
    'rules',
    'streaming',
    'rate limits',
    'attribution',
  ]),
];

const INTERFACE: readonly CoverageRow[] = [
  ...rows('INTERFACE 3.2', [
    ['GET /data', 'datasets#schemas of all workspaces'],
    ['GET /data/:ws', 'datasets#schemas of the workspace'],
    ['POST /data duplicateKeyHandling', 'test/pipeline/ingest.test.ts'],
    ['POST /data overwrite', 'records#overwrite'],
    ['POST /data maximumValidationErrors', 'test/pipeline/ingest.test.ts'],
    ['POST /record', 'records#a record makes its dataset'],
    ['POST /write', 'records#several, by the old name'],
    ['POST /record duplicateKeyHandling', 'records#or replaces'],
    ['POST /record createDatasetOnDemand', 'records#no dataset on demand'],
    ['POST /record event, persist, wait, updateState', 'records#several, by the old name'],
    ['DELETE /data key, from, to', 'records#delete a key on a date'],
    ['GET /datasets/:ws', 'datasets#an empty workspace'],
    ['POST /datasets/:ws', 'datasets#make one'],
    ['GET /datasets/:ws/:id', 'datasets#one'],
    ['PATCH /datasets/:ws/:id', 'datasets#change title and weight, add a property'],
    ['DELETE /datasets/:ws/:id', 'datasets#delete it'],
    ['PUT /datasets/:ws/:id/:newId', 'datasets#rename'],
    ['GET /jobs/:ws/:type', 'jobs#the newest job'],
    ['GET /jobs/:ws/:type/query', 'jobs#the first job, by the query spelling'],
    ['GET /jobs/:ws/:type/:id', 'jobs#it ends'],
    ['GET …/invalid-records-log', 'jobs#its rejected records'],
    ['GET …/cancel', 'jobs#too late to cancel'],
    ['POST /generate-schema/:ws', 'datasets#a schema from a sample'],
    ['GET /logs/:ws period', 'jobs#the log'],
    ['GET /meta', 'datasets#metadata of all workspaces'],
    ['GET /meta/:ws/*', 'datasets#metadata of all datasets of one'],
    ['GET /meta/:ws/:id schema', 'datasets#metadata of one dataset'],
    ['GET /meta/:ws/:id/:key/:subkey', 'datasets#metadata of one key'],
    ['POST /datasets/:ws/:id', 'datasets#make one with its id in the path'],
    ['GET /jobs/:ws/:id, as iexjs cancels', 'jobs#cancelled the way iexjs does, too late'],
    ['GET /index', 'datasets#is an attribute indexed'],
    ['POST /index', 'datasets#an index need not be made'],
    ['DELETE /index', 'datasets#nor removed'],
    ['GET /openapi-doc', 'openapi#the document'],
    ['GET /platform/swagger-json', 'openapi#its old address'],
  ]),
  ...later('INTERFACE 3.2', [
    'POST /jobs/:ws/:type',
    'data-sources',
    'ingestion-schedules',
    'credentials',
    'ingestion-history',
    'webhooks',
    'sample-data-source',
    'GET /generate-schema/:ws/:id',
    'sql-query',
    'aws-onboarding',
  ]),
  ...rows('INTERFACE 3.3', [
    ['create body', 'datasets#make one'],
    ['dataset object', 'datasets#one'],
  ]),
  ...later('INTERFACE 3.3', ['smartLinkAttributes']),
  ...rows('INTERFACE 3.4', [
    ['ignore matches', 'records#a duplicate is ignored'],
    ['replace matches', 'records#or replaces'],
  ]),
  ...rows('INTERFACE 3.5', [
    ['format', 'read#csv by parameter'],
    ['schema', 'read#only the schema, free'],
    ['callback', 'read#JSONP'],
    ['filter', 'read#a workspace may be named'],
    ['from, to', 'read#from and to, both spellings of a date'],
    ['on', 'read#on'],
    ['last', 'read#own properties, newest first'],
    ['first', 'read#first n, oldest first'],
    ['limit', 'read#sort and limit'],
    ['sort', 'read#sort and limit'],
    ['CSV by Accept', 'read#csv by header'],
  ]),
  ...later('INTERFACE 3.5', [
    'cache, cacheTTL',
    'calendar',
    'forward, future',
    'range',
    'interval',
    'next',
    'offset',
    'subattribute',
    'updated',
    'dateField',
    'transform',
    'batchSeparator',
    'includeSystemRecordProperties',
    'queryId',
    'collectionName',
    'several datasets and keys',
  ]),
];

export const COVERAGE: readonly CoverageRow[] = [...SPEC, ...INTERFACE];

/** The table as a page. */
export function coveragePage(): string {
  const shown = COVERAGE.filter((row) => row.shown !== 'later').length;
  const lines = COVERAGE.map(
    ({ section, row, shown: where }) => `| ${section} | ${row} | ${where} |`,
  );
  return [
    '# Coverage',
    '',
    'Generated from `docs/coverage.ts` by `npm run docs`; do not edit. A place such as `read#on` is',
    'the block of that title in `test/http/read.http`.',
    '',
    `${shown} of ${COVERAGE.length} rows are served.`,
    '',
    '| section | row | shown by |',
    '|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
