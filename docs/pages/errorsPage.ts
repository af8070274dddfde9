// docs/reference/errors.md: every failure with its cause and cure. The type checker finds a missing row.
import { FAILURES } from '../../reads/request/failures.ts';
import type { FailureType } from '../../store/base/failure.ts';

const INTRODUCTION = `# Errors

Generated from the table of failures by \`npm run docs\`; do not edit.

\`\`\`sh
curl -H 'Accept: application/problem+json' 'http://127.0.0.1:8080/v1/data/DEMO/NONE?token=pk_…' || true
\`\`\`

- Data routes return a wrong query parameter as \`{"error": …}\` and other failures as a sentence.
- Workspace routes return \`{"success": false, "message": …}\`.
- With \`Accept: application/problem+json\` each failure is a problem of RFC 9457 with its type.
- A failed call is free, except for [calls that read values of
  others](../guides/accounts.md#price-of-a-call).

[Troubleshooting](../concepts/troubleshooting.md) starts from an error text.
`;

const NO_ACCESS = 'The account has no grant for the dataset.';
const DETAIL = 'The message names the member and its rule.';

type Help = readonly [cause: string, cure: string];

const HELP: Readonly<Record<FailureType, Help>> = {
  IncorrectValues: ['A parameter has a value that its endpoint does not accept.', DETAIL],
  NoSymbol: ['The request has no symbol.', 'Add `symbols=`.'],
  TypeRequired: ['`types` has no type that exists.', 'Use a type of [stock types](stock.md).'],
  AuthorizationRestricted: [
    'The signature is used, too old, or of another token.',
    'Sign each request; set the clock.',
  ],
  AuthorizationRequired: ['The token requires signed requests.', 'Sign the request.'],
  Restricted: [NO_ACCESS, '`tapedeck account set ID --grant NAME`'],
  NoKey: ['The request has no token.', 'Add `token=` or `Authorization: Bearer`.'],
  SecretKeyRequired: [
    'A publishable token was sent.',
    'Send the secret token, from a server only.',
  ],
  DeniedReferer: ['The page or address is not on the list of the token.', 'Change the list.'],
  OverLimit: [
    'A quota, a budget or the limit of a token is used up.',
    'Raise it, or wait for the month.',
  ],
  FreeTierNotAllowed: ['The tier is `free`.', 'Change the tier of the account.'],
  TierNotAllowed: ['The dataset needs a higher tier.', 'Change the tier of the account.'],
  AuthorizationInvalid: [
    'The signature is malformed or wrong.',
    'Check the secret and the signed query.',
  ],
  DisabledKey: ['The token is disabled.', 'Enable it, or create another one.'],
  InvalidKey: ['No token has this text.', 'Check for a truncated or rotated token.'],
  TestTokenInProduction: ['A test token was sent to the main port.', 'Send a production token.'],
  ProductionTokenInSandbox: ['A production token was sent to the test port.', 'Send a test token.'],
  CircuitBreaker: ['The circuit breaker of the account is engaged.', 'Raise or remove it.'],
  Inactive: ['The account is suspended.', '`tapedeck account set ID --suspended off`'],
  UnknownSymbol: [
    'No dataset that you may read has the symbol.',
    'Load it, or check the spelling.',
  ],
  NotFound: ['No such path, workspace or dataset, or none that you may see.', 'Check the name.'],
  MaxTypes: ['More than ten types in a batch.', 'Send several requests.'],
  TooManyRequests: ['The rate of the token or address.', 'Wait as long as `Retry-After`.'],
  EnterprisePermissionRequired: [NO_ACCESS, '`tapedeck account set ID --grant NAME`'],
  SystemError: ['A fault of the server.', 'Search the log for the request id.'],
  Damaged: ['A stored file differs from its hash.', '[Repair it](../guides/repair.md).'],
  Gone: ['The version was removed by retention or a purge.', 'Read a later version.'],
  PriceTooHigh: ['The call could cost more than `maxMessages`.', 'Read less, or raise it.'],
  StorageLimit: ['The workspace is full for its tier.', 'Delete data, or change the tier.'],
  TestReadOnly: ['The test environment changes nothing.', 'Write on the main port.'],
  InvalidParameter: ['A parameter is unknown or wrong.', DETAIL],
  InvalidBody: ['The body does not fit.', DETAIL],
  SourceFailed: ['A data source returned an error.', 'The message quotes it.'],
  EndedTooOften: ['The server died twice with this job.', 'Split the file; report a bug.'],
  LimitReached: ['A maximum number of things exists.', 'Remove one; see [limits](limits.md).'],
  Conflict: ['The name or key is taken, or the resource changed meanwhile.', 'Use another one.'],
  TooLarge: ['A body or an answer is above its limit.', 'Read a range, or export.'],
  TimedOut: ['The call reached its deadline.', 'Read less, or raise the timeout.'],
  Busy: ['A queue is full, or data are loading.', 'Wait as long as `Retry-After`.'],
  DiskFull: ['The disk is full.', 'Make room. Reads continue.'],
  ChildLost: ['The query process died.', 'Send the request again.'],
};

/** The text of docs/reference/errors.md. */
export function errorsPage(): string {
  const rows = (Object.entries(FAILURES) as [FailureType, { status: number; text: string }][])
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([type, { status, text }]) => {
      const [cause, cure] = HELP[type];
      return `| ${status} | \`${type}\` | ${text} | ${cause} | ${cure} |`;
    });
  const head = ['| status | type | sentence | cause | cure |', '| --- | --- | --- | --- | --- |'];
  return [INTRODUCTION, ...head, ...rows, ''].join('\n');
}
