// The charges of an account, from its own bill.
import { fetchText, type Killable } from '../soak/crash/rounds/killable.ts';

type Usage = { readonly messages: { readonly keyUsage: Readonly<Record<string, number>> } };

/** Charged messages of this month. */
export async function chargedBy({ base }: Killable): Promise<number> {
  const { messages } = JSON.parse(await fetchText(base, 'GET', '/account/usage')) as Usage;
  return Object.values(messages.keyUsage).reduce((sum, one) => sum + one, 0);
}
