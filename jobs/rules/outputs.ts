// Output methods of alerts, their costs, and their members (SPEC.md "Rules schema object").
import { checkUrl } from '../../pipeline/sources/base/guard.ts';
import { Failure } from '../../store/base/failure.ts';
import type { RuleBody, RuleOutput } from '../../store/work/rules.ts';
import { choiceRule, membershipRule } from '../../store/base/valueRules.ts';

interface Member {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly charactersMax: number;
}

interface OutputMethod {
  readonly value: string;
  readonly label: string;
  /** Messages of one alert, besides those of its values. */
  readonly weight: number;
  readonly members: readonly Member[];
}

const URL_MEMBER: Member = {
  name: 'url',
  description: 'where alerts are posted to',
  isRequired: true,
  charactersMax: 8_000,
};
const MESSAGE: Member = {
  name: 'message',
  description: 'text before the values; {{name}} stands for the value of that name',
  isRequired: false,
  charactersMax: 10_000,
};

export const OUTPUT_METHODS: readonly OutputMethod[] = [
  { value: 'webhook', label: 'Webhook', weight: 100, members: [URL_MEMBER] },
  { value: 'googlefunctions', label: 'Google Functions', weight: 1_000, members: [URL_MEMBER] },
  {
    value: 'email',
    label: 'Email',
    weight: 2e4,
    members: [
      {
        name: 'to',
        description: 'the address',
        isRequired: true,
        charactersMax: 254,
      },
      {
        name: 'subject',
        description: 'of the mail',
        isRequired: false,
        charactersMax: 200,
      },
      MESSAGE,
    ],
  },
  { value: 'logs', label: 'Logs', weight: 0, members: [] },
  {
    value: 'dataset',
    label: 'Dataset',
    weight: 0,
    members: [
      {
        name: 'dataset',
        description: 'ID or WORKSPACE.ID; made where there is none',
        isRequired: true,
        charactersMax: 257,
      },
    ],
  },
  { value: 'slack', label: 'Slack', weight: 100, members: [URL_MEMBER, MESSAGE] },
  { value: 'mattermost', label: 'Mattermost', weight: 100, members: [URL_MEMBER, MESSAGE] },
];

const outputMethod = (value: string): OutputMethod | undefined =>
  OUTPUT_METHODS.find((method) => method.value === value);

/** Messages of an alert besides those of its values: an alert that is not sent costs no delivery. */
export const outputWeight = ({ isShadow, output }: RuleBody): number =>
  isShadow ? 0 : (outputMethod(output.method)?.weight ?? 0);

/** Seconds between two alerts: at least one, so that a rule is no stream; at most a year. */
const FREQUENCY_MIN = 1;
const FREQUENCY_MAX = 366 * 86_400;
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}$/;

interface OutputLimits {
  readonly allowPrivateAddresses: boolean;
  readonly isEmailSet: boolean;
}

/** Validates the one output of a rule. @throws Failure InvalidParameter naming the member and its rule */
export function parseOutput(outputs: readonly unknown[], limits: OutputLimits): RuleOutput {
  const [output, ...others] = outputs;
  if (others.length > 0 || typeof output !== 'object' || output === null) {
    return refuse('outputs', 'must be a list of exactly one object');
  }
  const { frequency, method: name, ...rest } = output as Readonly<Record<string, unknown>>;
  const method = outputMethod(String(name));
  if (method === undefined) {
    return refuse('outputs[0].method', choiceRule(OUTPUT_METHODS.map(({ value }) => value)));
  }
  if (method.value === 'email' && !limits.isEmailSet) {
    return refuse('outputs[0].method', 'email needs TAPEDECK_SMTP, which is not set here');
  }
  const frequencySeconds = typeof frequency === 'string' ? Number(frequency) : frequency;
  const isSeconds = typeof frequencySeconds === 'number' && Number.isFinite(frequencySeconds);
  if (!isSeconds || frequencySeconds < FREQUENCY_MIN || frequencySeconds > FREQUENCY_MAX) {
    const rule = `must be seconds from ${FREQUENCY_MIN} to ${FREQUENCY_MAX}`;
    return refuse('outputs[0].frequency', rule);
  }
  const members = parseMembers(method, rest);
  if (members['url'] !== undefined) checkUrl(members['url'], limits.allowPrivateAddresses);
  if (members['to'] !== undefined && !ADDRESS.test(members['to'])) {
    return refuse('outputs[0].to', 'must be one e-mail address');
  }
  return { method: method.value, frequencySeconds, members };
}

function parseMembers(
  { members, value }: OutputMethod,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const membersByName = new Map(members.map((member) => [member.name, member]));
  for (const name of Object.keys(input)) {
    if (!membersByName.has(name)) refuse(`outputs[0].${name.slice(0, 100)}`, membershipRule(value));
  }
  return Object.fromEntries(
    members.flatMap(({ charactersMax, isRequired, name }) => {
      const text = input[name];
      if (text === undefined && !isRequired) return [];
      if (typeof text !== 'string' || text === '') {
        return refuse(`outputs[0].${name}`, 'must be a text');
      }
      if (text.length > charactersMax) {
        return refuse(`outputs[0].${name}`, `has at most ${charactersMax} characters`);
      }
      // A line break in a header value would begin another header.
      if (name !== 'message' && /[\0-\x1f\x7f]/.test(text)) {
        return refuse(`outputs[0].${name}`, 'has no control characters');
      }
      return [[name, text] as const];
    }),
  );
}

function refuse(name: string, rule: string): never {
  throw new Failure('InvalidParameter', `${name} ${rule}`);
}
