// Checks bodies of rules, as clients of the original and later clients send them.
import type { Static } from 'typebox';
import { matching, Type } from '../../reads/request/schema.ts';
import { parseOutput } from '../../jobs/rules/outputs.ts';
import { ANY_SYMBOL } from '../../jobs/rules/ruleEngine.ts';
import {
  parseConditions,
  isNamed,
  kindOfName,
  type PropertyKind,
} from '../../jobs/rules/runningRule.ts';
import { CONDITIONS_MAX, unknownValueRule } from '../../query/rules/conditions.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { RuleBody } from '../../store/work/rules.ts';

/** Maximum additional values of alerts, and names of an index. */
const NAMES_MAX = 100;
const NAME = Type.String({ minLength: 1, maxLength: 500 });
const NAMES = Type.Optional(Type.Array(NAME, { maxItems: NAMES_MAX }));

export const RULE_BODY = Type.Object(
  {
    ruleSet: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: `A symbol, or ${ANY_SYMBOL} for every symbol with changed values.`,
      }),
    ),
    type: Type.Optional(Type.Enum(['any', 'all'])),
    ruleName: Type.String({
      minLength: 1,
      maxLength: 200,
      ...matching(/^[^\u0000-\u001f\u007f]+$/u, 'text without line breaks and control characters'),
    }),
    conditions: Type.Array(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
      { minItems: 1, maxItems: CONDITIONS_MAX },
    ),
    outputs: Type.Array(Type.Object({}, { additionalProperties: true }), {
      minItems: 1,
      maxItems: 1,
    }),
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    additionalKeys: NAMES,
    index: NAMES,
    additionalIndex: NAMES,
    trigger: Type.Optional(Type.Enum(['level', 'edge'])),
    shadow: Type.Optional(
      Type.Boolean({ description: 'true: alerts are recorded, but not sent.' }),
    ),
  },
  { additionalProperties: false },
);

/** A checked rule of a client. */
interface CheckedRule {
  readonly name: string;
  readonly event: string;
  readonly body: RuleBody;
}

/** @throws Failure InvalidParameter naming the member and its rule. */
export function checkRule(
  request: Static<typeof RULE_BODY>,
  propertyKind: PropertyKind,
  settings: Pick<Settings, 'allowPrivateAddresses' | 'smtp'>,
): CheckedRule {
  const { additionalIndex = [], additionalKeys = [], conditions, index = [], ruleSet } = request;
  const output = parseOutput(request.outputs, {
    allowPrivateAddresses: settings.allowPrivateAddresses,
    isEmailSet: settings.smtp !== '',
  });
  const body: RuleBody = {
    match: request.type ?? 'any',
    conditions,
    additionalKeys,
    index,
    additionalIndex,
    trigger: request.trigger ?? 'level',
    isShadow: request.shadow ?? false,
    output,
  };
  const checked = parseConditions(body, propertyKind);
  for (const name of [...additionalKeys, ...index, ...additionalIndex]) {
    if (kindOfName(propertyKind)(name) !== undefined) continue;
    const where = additionalKeys.includes(name) ? 'additionalKeys' : 'index';
    throw new Failure('InvalidParameter', `${where} ${unknownValueRule(name)}`);
  }
  const isOfSymbol = [...checked.map(({ name }) => name), ...additionalKeys].some(
    (name) => !isNamed(name),
  );
  if (ruleSet === undefined && (isOfSymbol || index.length === 0)) {
    const rule = `is required: a symbol, ${ANY_SYMBOL}, or an index in its place`;
    throw new Failure('InvalidParameter', `ruleSet ${rule}`);
  }
  return { name: request.ruleName, event: (ruleSet ?? '').trim().toUpperCase(), body };
}
