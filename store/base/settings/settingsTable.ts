// The one declared table of settings; settings.ts reads them.

const MEGABYTE = 1024 ** 2;
const GIGABYTE = 1024 ** 3;

type Declaration = Readonly<Record<'name' | 'fallback' | 'unit' | 'help', string>>;

/** Every setting: environment variable, default, unit, help. docs/operate/operating.md prints this table. */
export const SETTINGS = [
  {
    name: 'TAPEDECK_PORT',
    fallback: '8080',
    unit: 'port',
    help: 'Port of the API; 0: a free one.',
  },
  { name: 'TAPEDECK_HOST', fallback: '127.0.0.1', unit: 'address', help: 'Address to listen on.' },
  {
    name: 'TAPEDECK_DATA',
    fallback: './data',
    unit: 'folder',
    help: 'The data folder, which contains everything; or `s3://bucket/prefix` for the files of datasets.',
  },
  {
    name: 'TAPEDECK_FOLDER',
    fallback: './data',
    unit: 'folder',
    help: 'The data folder where TAPEDECK_DATA is a bucket: all but the files of datasets.',
  },
  {
    name: 'TAPEDECK_DATABASE',
    fallback: '',
    unit: 'URL',
    help:
      'PostgreSQL that keeps the catalog, `postgres://user:password@host:port/database`; a file of the ' +
      'data folder when empty.',
  },
  {
    name: 'TAPEDECK_BUS',
    fallback: '',
    unit: 'URL',
    help:
      'NATS that keeps what streams told for five minutes, so that readers go on at another node, ' +
      '`nats://user:password@host:port`; in the process when empty.',
  },
  {
    name: 'TAPEDECK_STANDBY',
    fallback: 'off',
    unit: 'on, off',
    help:
      'One node of several: hand requests on while another one serves the catalog of TAPEDECK_DATABASE, ' +
      'take its place when it is gone.',
  },
  {
    name: 'TAPEDECK_ROLE',
    fallback: 'all',
    unit: 'all, api, worker',
    help: 'What a node does: api lends no processes; worker lends them and never serves.',
  },
  {
    name: 'TAPEDECK_LEND',
    fallback: 'on',
    unit: 'on, off',
    help: 'A node that hands on lends its query processes to the one that serves.',
  },
  {
    name: 'TAPEDECK_NODE_READS',
    fallback: 'on',
    unit: 'on, off',
    help: 'A node that does not serve answers reads itself, where it knows what is stored.',
  },
  {
    name: 'TAPEDECK_NODE_HOST',
    fallback: '',
    unit: 'host',
    help:
      'Name or address by which other nodes reach this one; TAPEDECK_HOST when empty, or the name of the ' +
      'machine where that is every address.',
  },
  {
    name: 'TAPEDECK_FILE_CACHE',
    fallback: String(10 * GIGABYTE),
    unit: 'bytes',
    help: 'Disk of copies of files of the bucket; those that are open may be more.',
  },
  {
    name: 'TAPEDECK_S3_ENDPOINT',
    fallback: '',
    unit: 'URL',
    help: 'Server of the bucket; Amazon’s own when empty.',
  },
  {
    name: 'TAPEDECK_S3_REGION',
    fallback: 'us-east-1',
    unit: 'region',
    help: 'Region of the bucket.',
  },
  {
    name: 'TAPEDECK_S3_KEY_ID',
    fallback: '',
    unit: 'text',
    help: 'Id of the access key that reads and writes the bucket.',
  },
  { name: 'TAPEDECK_S3_SECRET', fallback: '', unit: 'text', help: 'That key’s secret.' },
  {
    name: 'TAPEDECK_BRAND',
    fallback: 'svc',
    unit: 'text',
    help: 'Prefix of the metering headers.',
  },
  {
    name: 'TAPEDECK_PUBLISHABLE_TOKEN',
    fallback: '',
    unit: 'token',
    help: 'Publishable token of the first account; created when empty.',
  },
  {
    name: 'TAPEDECK_SECRET_TOKEN',
    fallback: '',
    unit: 'token',
    help: 'Secret token of the first account; created when empty.',
  },
  {
    name: 'TAPEDECK_ENCRYPTION_KEY',
    fallback: '',
    unit: '64 hex digits',
    help: 'Data key; a 0600 file in the data folder when empty.',
  },
  {
    name: 'TAPEDECK_DEMO',
    fallback: 'on',
    unit: 'on|off',
    help: 'Fill workspace DEMO at the first start, and CORE with the synthetic exchange.',
  },
  {
    name: 'TAPEDECK_DEMO_SYMBOLS',
    fallback: '300',
    unit: 'symbols',
    help: 'Symbols of the synthetic exchange, 0 to 300; 0 leaves it out.',
  },
  {
    name: 'TAPEDECK_DEMO_CLOCK',
    fallback: 'always',
    unit: 'always|session',
    help: 'When the synthetic exchange streams: outside its hours the last session over again, or not.',
  },
  {
    name: 'TAPEDECK_ZONE',
    fallback: 'America/New_York',
    unit: 'IANA zone',
    help: 'Zone of date ranges and of billing days.',
  },
  {
    name: 'TAPEDECK_BODY_BYTES',
    fallback: String(4 * GIGABYTE),
    unit: 'bytes',
    help: 'Largest body of a data load; more is refused with 413.',
  },
  {
    name: 'TAPEDECK_CHILDREN',
    fallback: '2',
    unit: 'processes',
    help: 'DuckDB processes that answer reads.',
  },
  {
    name: 'TAPEDECK_CHILD_MEMORY',
    fallback: String(GIGABYTE / 4),
    unit: 'bytes',
    help: 'DuckDB memory limit of a read process.',
  },
  {
    name: 'TAPEDECK_CACHE_BYTES',
    fallback: String(GIGABYTE / 4),
    unit: 'bytes',
    help: 'Memory for series in demand; 0 keeps none.',
  },
  {
    name: 'TAPEDECK_SQL_CHILDREN',
    fallback: '2',
    unit: 'processes',
    help: 'DuckDB processes that answer SQL, in addition to those of series.',
  },
  {
    name: 'TAPEDECK_SQL_MEMORY',
    fallback: String(GIGABYTE / 2),
    unit: 'bytes',
    help: 'DuckDB memory limit of an SQL process; a tier may have less.',
  },
  {
    name: 'TAPEDECK_SQL_SPILL',
    fallback: String(4 * GIGABYTE),
    unit: 'bytes',
    help: 'Disk that an SQL process may use for what does not fit into its memory.',
  },
  {
    name: 'TAPEDECK_SQL_TIMEOUT',
    fallback: '30000',
    unit: 'ms',
    help: 'Deadline of one SQL query; a tier may have less.',
  },
  {
    name: 'TAPEDECK_SQL_CACHE',
    fallback: String(16 * MEGABYTE),
    unit: 'bytes',
    help: 'Memory for short answers of SQL that are asked for again; 0 keeps none.',
  },
  {
    name: 'TAPEDECK_ANSWER_DISK',
    fallback: String(2 * GIGABYTE),
    unit: 'bytes',
    help: 'Disk that answers of one account may use until they are read; beyond it 503.',
  },
  {
    name: 'TAPEDECK_DRAIN',
    fallback: '20000',
    unit: 'ms',
    help: 'Time from SIGTERM, SIGINT or SIGHUP to the end of the process, whatever is still running.',
  },
  {
    name: 'TAPEDECK_INGEST_MEMORY',
    fallback: String(0.75 * GIGABYTE),
    unit: 'bytes',
    help: 'DuckDB memory limit of ingestion, shared by the jobs that run.',
  },
  { name: 'TAPEDECK_READ_TIMEOUT', fallback: '30000', unit: 'ms', help: 'Deadline of one read.' },
  {
    name: 'TAPEDECK_JOB_TIMEOUT',
    fallback: '3600000',
    unit: 'ms',
    help: 'Deadline of one ingestion job.',
  },
  {
    name: 'TAPEDECK_JOBS',
    fallback: '2',
    unit: 'jobs',
    help: 'Ingestion jobs that run at once, one for each dataset at most.',
  },
  {
    name: 'TAPEDECK_LOG',
    fallback: 'info',
    unit: 'level',
    help: 'Lowest level that is logged: trace, debug, info, warn, error, silent.',
  },
  {
    name: 'TAPEDECK_TLS_CERT',
    fallback: '',
    unit: 'file',
    help: 'Certificate chain (PEM); with TAPEDECK_TLS_KEY the API speaks HTTPS only.',
  },
  { name: 'TAPEDECK_TLS_KEY', fallback: '', unit: 'file', help: 'Private key (PEM).' },
  {
    name: 'TAPEDECK_KEEP_ALL',
    fallback: '24',
    unit: 'hours',
    help: 'Time for which every version of the lake is kept.',
  },
  {
    name: 'TAPEDECK_KEEP_HOURLY',
    fallback: '30',
    unit: 'days',
    help: 'Age up to which the last version of each hour is kept after that.',
  },
  {
    name: 'TAPEDECK_KEEP_DAILY',
    fallback: '36500',
    unit: 'days',
    help: 'Age up to which the last version of each day is kept after that.',
  },
  {
    name: 'TAPEDECK_CLOCK_BACK',
    fallback: 'mark',
    unit: 'mark|refuse',
    help: 'If the clock is over 5 s behind the newest commit: continue and mark it, or refuse writes.',
  },
  {
    name: 'TAPEDECK_ADMIN_TOKEN',
    fallback: '',
    unit: 'token',
    help: 'Token of the admin API; a 0600 file in the data folder when empty.',
  },
  {
    name: 'TAPEDECK_SERVER',
    fallback: '',
    unit: 'URL',
    help: 'Server that commands speak to in place of a data folder; --server.',
  },
  {
    name: 'TAPEDECK_TOKEN',
    fallback: '',
    unit: 'token',
    help: 'Token by which commands speak to it: a secret one, or its admin token; --token.',
  },
  {
    name: 'TAPEDECK_CA',
    fallback: '',
    unit: 'path',
    help: 'PEM file of the authority, or certificate, that commands trust it by; --ca.',
  },
  {
    name: 'TAPEDECK_METERING',
    fallback: 'on',
    unit: 'on|off',
    help: 'Charge calls; off serves every account free and keeps no usage.',
  },
  {
    name: 'TAPEDECK_JOURNAL_MONTHS',
    fallback: '13',
    unit: 'months',
    help: 'Full months for which each charged call is kept.',
  },
  {
    name: 'TAPEDECK_BILLING_MONTH',
    fallback: '',
    unit: 'YYYYMM',
    help: 'Present month, for after the clock was far ahead: later charges are ignored at start.',
  },
  {
    name: 'TAPEDECK_RATE_LIMIT',
    fallback: 'on',
    unit: 'on|off',
    help: 'Limit the rate of requests: by address, and by token according to its tier.',
  },
  {
    name: 'TAPEDECK_TRUSTED_PROXIES',
    fallback: '',
    unit: 'addresses',
    help: 'Comma list of addresses and CIDR ranges whose X-Forwarded-For is trusted.',
  },
  {
    name: 'TAPEDECK_SANDBOX_PORT',
    fallback: '',
    unit: 'port',
    help: 'Port of the test environment; there is none when empty.',
  },
  {
    name: 'TAPEDECK_STREAM_PORT',
    fallback: '',
    unit: 'port',
    help: 'Port of streams alone, beside the one of everything; there is none when empty.',
  },
  {
    name: 'TAPEDECK_CONSOLE',
    fallback: 'on',
    unit: 'on|off',
    help: 'Serve the console, the screens for people, under /console.',
  },
  {
    name: 'TAPEDECK_ATTRIBUTION',
    fallback: '',
    unit: 'text',
    help: 'Credit for datasets that name no source; sent as a header.',
  },
  {
    name: 'TAPEDECK_ALLOW_PRIVATE_ADDRESSES',
    fallback: 'off',
    unit: 'on|off',
    help: 'Let sources and webhooks reach private, loopback and link-local addresses.',
  },
  {
    name: 'TAPEDECK_SMTP',
    fallback: '',
    unit: 'URL',
    help: 'Mail server for alerts: smtp://user:password@host:port; without it rules send no mail.',
  },
  {
    name: 'TAPEDECK_MAIL_FROM',
    fallback: 'tapedeck@localhost',
    unit: 'address',
    help: 'Address that mail of rules comes from.',
  },
  {
    name: 'TAPEDECK_SOURCE_FOLDER',
    fallback: '',
    unit: 'folder',
    help: 'Folder whose files sources may read; none when empty.',
  },
  {
    name: 'TAPEDECK_EXPORT_FOLDER',
    fallback: '',
    unit: 'folder',
    help: 'Folder below which exports may write; none when empty.',
  },
  {
    name: 'TAPEDECK_FILE_CHECK',
    fallback: '8388608',
    unit: 'bytes/s',
    help: 'Pace at which stored files are compared with their hashes; 0 turns the check off.',
  },
  {
    name: 'TAPEDECK_SOURCE_BYTES',
    fallback: String(64 * GIGABYTE),
    unit: 'bytes',
    help: 'Largest file that a source may deliver.',
  },
  {
    name: 'TAPEDECK_SOURCE_TIMEOUT',
    fallback: '3600000',
    unit: 'ms',
    help: 'Deadline of one file from a source.',
  },
] as const satisfies readonly Declaration[];
