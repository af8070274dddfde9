// Matches addresses against lists of rules, and finds the client address of a request.
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { Failure } from './failure.ts';

const RULES_MAX = 100;

/** Two lists, because in a single one `::/0` would match IPv4 too. */
export interface AddressRules {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

/**
 * Parses rules: `192.0.2.7`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`. Bits of a range
 * after its prefix are ignored. `::ffff:192.0.2.7` always means its IPv4 address.
 * An empty list matches no address; the caller decides what that means.
 * @throws Failure InvalidBody with the rule that can't be parsed, or if there are more than 100 rules.
 */
export function parseAddresses(texts: readonly string[]): AddressRules {
  if (texts.length > RULES_MAX) refuse(`there are more than ${RULES_MAX}`);
  const rules: AddressRules = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) addRule(rules, text);
  return rules;
}

/** Whether a rule matches `address`; a text that is no address matches none. */
export function allowsAddress(rules: AddressRules, address: string): boolean {
  const plain = plainAddress(address);
  if (plain === undefined) return false;
  return isIPv4(plain) ? rules.ipv4.check(plain) : rules.ipv6.check(plain, 'ipv6');
}

/**
 * The client address of a request: `peer`, the other end of the socket, or, while the hops are
 * `trusted` proxies, the one before it in `forwardedFor` (header X-Forwarded-For, to which every
 * proxy appends on the right). Entries of an untrusted hop are ignored. A hop that is
 * no address (`unknown`, a name, nothing) ends the search at the proxy that wrote it.
 * Returns one spelling of each address, so that requests can be counted by it.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: AddressRules,
): string {
  let client = plainAddress(peer) ?? peer;
  if (forwardedFor === undefined || !allowsAddress(trusted, client)) return client;
  for (const hop of forwardedFor.split(',').reverse()) {
    const address = plainAddress(withoutPort(hop.trim()));
    if (address === undefined) return client;
    client = address;
    if (!allowsAddress(trusted, client)) return client;
  }
  return client;
}

function addRule({ ipv4, ipv6 }: AddressRules, text: string): void {
  const [, address = '', bits] = /^([\da-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const plain = plainAddress(address);
  if (plain === undefined) return refuse(`"${text.slice(0, 100)}" is no IP address and no range`);
  if (isIPv6(plain)) {
    const prefix = bits === undefined ? 128 : Number(bits);
    if (prefix > 128) refuse(`"${text}" has a prefix over 128`);
    ipv6.addSubnet(plain, prefix, 'ipv6');
    return;
  }
  // The first 96 bits of an IPv4 address written as IPv6 are fixed.
  const fixed = isIPv4(address) ? 0 : 96;
  const prefix = bits === undefined ? 32 : Number(bits) - fixed;
  if (prefix > 32) refuse(`"${text}" has a prefix over ${32 + fixed}`);
  if (prefix < 0) refuse(`"${text}" has a prefix under ${fixed}`);
  ipv4.addSubnet(plain, prefix);
}

/** The RFC 5952 spelling without a zone, or the IPv4 address; undefined if the text is no address. */
function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}

/** Some proxies write `192.0.2.7:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => {
  const [, ipv4, ipv6] = /^(?:([\d.]+)|\[([\da-f:.]+)\]):\d{1,5}$/i.exec(hop) ?? [];
  return ipv4 ?? ipv6 ?? hop;
};

function refuse(reason: string): never {
  throw new Failure('InvalidBody', `IP addresses: ${reason}`);
}
