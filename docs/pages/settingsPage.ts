// docs/reference/settings.md: every setting, in groups. A setting without a group fails the generator.
import { SETTINGS } from '../../store/base/settings/settingsTable.ts';

const INTRODUCTION = `# Settings

Generated from the table of settings by \`npm run docs\`; do not edit.

\`\`\`text
TAPEDECK_PORT=9000 TAPEDECK_DEMO=off npm start
\`\`\`

Settings are environment variables. The server reads them once at start. An unknown name that begins with
\`TAPEDECK_\` is an error with a suggestion. [Limits](limits.md) lists the limits that settings do not
change.
`;

/** Titles, and the settings below each, in the order of the page. */
const GROUPS: readonly (readonly [title: string, names: string])[] = [
  [
    'Address and TLS',
    'PORT HOST TLS_CERT TLS_KEY TRUSTED_PROXIES STREAM_PORT SANDBOX_PORT METRICS_PORT',
  ],
  [
    'Data folder and storage',
    'DATA FOLDER DATABASE FILE_CACHE S3_ENDPOINT S3_REGION S3_KEY_ID S3_SECRET',
  ],
  ['Several nodes', 'STANDBY ROLE NODE_HOST NODE_READS LEND BUS'],
  ['Tokens and keys', 'PUBLISHABLE_TOKEN SECRET_TOKEN ADMIN_TOKEN METRICS_TOKEN ENCRYPTION_KEY'],
  ['Sample data', 'DEMO DEMO_SYMBOLS DEMO_CLOCK'],
  [
    'Reads and SQL',
    'CHILDREN CHILD_MEMORY CACHE_BYTES READ_TIMEOUT SQL_CHILDREN SQL_MEMORY SQL_SPILL SQL_TIMEOUT ' +
      'SQL_CACHE ANSWER_DISK ZONE',
  ],
  ['Loads and jobs', 'JOBS JOB_TIMEOUT INGEST_MEMORY BODY_BYTES'],
  [
    'Sources and exports',
    'SOURCE_FOLDER EXPORT_FOLDER SOURCE_BYTES SOURCE_TIMEOUT ALLOW_PRIVATE_ADDRESSES',
  ],
  ['Versions and stored files', 'KEEP_ALL KEEP_HOURLY KEEP_DAILY CLOCK_BACK FILE_CHECK'],
  ['Metering and rates', 'METERING JOURNAL_MONTHS BILLING_MONTH RATE_LIMIT BRAND ATTRIBUTION'],
  ['Console, agents, alerts', 'CONSOLE MCP_ORIGINS SMTP MAIL_FROM'],
  ['Log and shutdown', 'LOG DRAIN'],
  ['Command line', 'SERVER TOKEN CA'],
];

/** The text of docs/reference/settings.md. */
export function settingsPage(): string {
  const left = new Map(SETTINGS.map((setting) => [setting.name as string, setting]));
  const sections = GROUPS.flatMap(([title, names]) => {
    const rows = names.split(' ').map((stem) => {
      const name = `TAPEDECK_${stem}`;
      const setting = left.get(name);
      if (setting === undefined) throw new Error(`docs/pages/settingsPage.ts: no setting ${name}`);
      left.delete(name);
      const { fallback, help, unit } = setting;
      return `| \`${name}\` | ${fallback} | ${unit.replaceAll('|', ', ')} | ${help} |`;
    });
    const head = ['| variable | default | unit | meaning |', '| --- | --- | --- | --- |'];
    return [`## ${title}`, '', ...head, ...rows, ''];
  });
  const [missing] = left.keys();
  if (missing !== undefined) {
    throw new Error(`docs/pages/settingsPage.ts: add ${missing} to a group`);
  }
  return [INTRODUCTION, ...sections].join('\n');
}
