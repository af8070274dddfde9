// Types that answer one attribute of another type, such as `stats/beta`.
import { listMembers } from '../../market/types/example.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { Failure } from '../../store/base/failure.ts';

/** Messages charged for one attribute (INTERFACE.md 0.3). */
export const ATTRIBUTE_WEIGHT = 1;

/**
 * Finds or builds the type that answers one attribute of another type. An unknown attribute of stats returns
 * all of stats, as clients of the original expect (INTERFACE.md 0.2).
 * @throws Failure NotFound for an unknown attribute of another type.
 */
export function resolveAttribute(type: MarketType, attribute: string | undefined): MarketType {
  if (attribute === undefined) return type;
  const cached = attributeTypes.get(type)?.get(attribute);
  if (cached !== undefined) return cached;
  const attributeType = buildAttributeType(type, attribute);
  const others = attributeTypes.get(type) ?? new Map<string, MarketType>();
  // A type has a few hundred attributes, in several spellings: the limit bounds the cache.
  if (others.size < ATTRIBUTE_TYPES_MAX)
    attributeTypes.set(type, others.set(attribute, attributeType));
  return attributeType;
}

const attributeTypes = new Map<MarketType, Map<string, MarketType>>();
const ATTRIBUTE_TYPES_MAX = 500;

function buildAttributeType(type: MarketType, attribute: string): MarketType {
  const name = listMembers(type).find((member) => member.toLowerCase() === attribute.toLowerCase());
  if (name === undefined && type.name === 'stats') return type;
  if (name === undefined) throw new Failure('NotFound');
  const { charge } = type;
  const key = charge.kind === 'answer' ? charge.usageKey : '';
  return {
    ...type,
    attribute: name,
    shape: 'value',
    charge: { kind: 'answer', weight: ATTRIBUTE_WEIGHT, usageKey: key },
    answer: (ask, read) => {
      const typeAnswer = type.answer(ask, read);
      return typeAnswer === undefined
        ? undefined
        : new Map(Object.entries(typeAnswer as object)).get(name);
    },
  };
}
