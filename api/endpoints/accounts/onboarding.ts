// The original read buckets with an AWS role. A self-hosted server has no AWS account that a role could
// trust, so this endpoint refuses and names the alternative.
import { Type } from '../../../reads/request/schema.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { refuse, textOf } from '../../../reads/request/parameters.ts';
import { OWNERS_ROW } from '../../request/rows.ts';

/** ARN of a role with IAM's paths and names. */
const ROLE = /^arn:aws(?:-[a-z]{1,10}){0,3}:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/;
const RULE = 'must be the ARN of a role: arn:aws:iam::123456789012:role/NAME';

export const configureAwsS3: Endpoint = {
  ...OWNERS_ROW,
  id: 'configureAwsS3',
  method: 'GET',
  path: '/aws-onboarding/:workspace/configure-aws-s3',
  // iexjs leaves out the end (INTERFACE.md 3.2).
  aliases: ['/aws-onboarding/:workspace'],
  summary: 'Refused, with the reason: buckets are opened by access keys, not by roles.',
  parameters: [
    {
      kind: 'text',
      name: 'arnrole',
      pattern: ROLE,
      rule: RULE,
      help: 'ARN of the role that was to be assumed.',
    },
  ],
  answer: Type.Never(),
  handle: async (call, services) => {
    findPathWorkspace(call, services);
    if (textOf(call.query, 'arnrole') === undefined) refuse('arnrole', RULE);
    const reason = 'this server has no AWS account that a role could trust';
    const advice = 'POST /credentials/:workspace keeps access keys, which open buckets';
    throw new Failure('InvalidBody', `arnrole can not be assumed: ${reason}; ${advice}`);
  },
};
