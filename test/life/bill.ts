// What an account was charged, by its own bill.
import { asked, type Killable } from '../soak/crash/rounds/killable.ts';

type Usage = { readonly messages: { readonly keyUsage: Readonly<Record<string, number>> } };

/** Messages of this month. */
export async function chargedBy({ base }: Killable): Promise<number> {
  const { messages } = JSON.parse(await asked(base, 'GET', '/account/usage')) as Usage;
  return Object.values(messages.keyUsage).reduce((sum, one) => sum + one, 0);
}
