// Machines in a network, as namespaces of this one: each has its own address, all are joined by a bridge, and
// the link between two of them can be cut, lossy or slow. Needs Linux, root, and Debian's iproute2 and
// nftables.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';

/** The peers that a machine can no longer reach, and that cannot reach it. */
export type Cut =
  | { readonly port: number }
  | { readonly addresses: readonly string[] }
  | { readonly lost: number }
  | 'all';

export interface Host {
  readonly address: string;
  /** The command prefix that starts a program on it. */
  readonly under: readonly string[];
  /** Replaces earlier cuts from now on. Packets are dropped without an error. */
  cut(...cuts: readonly Cut[]): Promise<void>;
  /** Limits its outgoing traffic, until it is healed. */
  slow(kilobits: number): Promise<void>;
  heal(): Promise<void>;
}

interface Hosts extends AsyncDisposable {
  /** The address of this machine for the hosts: its servers are behind their links. */
  readonly address: string;
  readonly hosts: readonly Host[];
}

/** A program whose clock is `seconds` off; undefined where the machine has no faketime (Debian: faketime). */
export function clockOff(seconds: number): Readonly<Record<string, string>> | undefined {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
  if (library === undefined) return undefined;
  const off = `${seconds < 0 ? '' : '+'}${seconds}s`;
  return { LD_PRELOAD: library, FAKETIME: off, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

const run = (script: string): Promise<unknown> => promisify(execFile)('sh', ['-ec', script]);

let networks = 0;

/** @returns undefined if this process may not create them */
export async function startHosts(count: number): Promise<Hosts | undefined> {
  // A network for each process, which no other one uses.
  const own = process.pid * 4 + (networks += 1);
  const net = `10.${64 + ((own >> 8) & 127)}.${own & 255}`;
  const bridge = `tdb${own}`;
  const names = Array.from({ length: count }, (_, at) => `td${own}h${at}`);
  const dispose = async (): Promise<void> => {
    for (const name of names) await run(`ip netns del ${name}`).catch(() => undefined);
    await run(`ip link del ${bridge}`).catch(() => undefined);
  };
  const address = `${net}.1`;
  try {
    await run(`ip link add ${bridge} type bridge && ip addr add ${address}/24 dev ${bridge}
      ip link set ${bridge} up`);
    for (const [at, name] of names.entries()) {
      await run(`ip netns add ${name}
        ip link add tdv${own}h${at} type veth peer name eth0 netns ${name}
        ip link set tdv${own}h${at} master ${bridge} up
        ip -n ${name} addr add ${net}.${11 + at}/24 dev eth0
        ip -n ${name} link set lo up && ip -n ${name} link set eth0 up
        ip netns exec ${name} nft list ruleset`);
    }
  } catch {
    await dispose();
    return undefined;
  }
  const hosts = names.map((name, at) => hostOf(name, `${net}.${11 + at}`));
  return { address, hosts, [Symbol.asyncDispose]: dispose };
}

function hostOf(name: string, address: string): Host {
  const under = ['ip', 'netns', 'exec', name];
  const on = (script: string): Promise<unknown> => run(`${under.join(' ')} ${script}`);
  const cut: Host['cut'] = async (...cuts) => {
    const chain = (way: 'input' | 'output'): string => {
      const rules = cuts.map((one) => rule(one, way));
      const lines = [`chain ${way} {`, `type filter hook ${way} priority 0`, ...rules, '}'];
      return `${lines.join('\n')}\n`;
    };
    await on(`nft 'flush ruleset\ntable inet cut {\n${chain('input')}${chain('output')}}\n'`);
  };
  const fast = (): Promise<unknown> => on('tc qdisc del dev eth0 root').catch(() => undefined);
  return {
    address,
    under,
    cut,
    slow: async (kilobits) => {
      await fast();
      await on(`tc qdisc add dev eth0 root tbf rate ${kilobits}kbit burst 3kb latency 2s`);
    },
    heal: async () => {
      await cut();
      await fast();
    },
  };
}

function rule(cut: Cut, way: 'input' | 'output'): string {
  const [link, end, door] =
    way === 'input' ? ['iifname', 'saddr', 'sport'] : ['oifname', 'daddr', 'dport'];
  if (cut === 'all') return `${link} "eth0" drop`;
  if ('port' in cut) return `tcp ${door} ${cut.port} drop`;
  if ('lost' in cut) return `${link} "eth0" numgen random mod 100 < ${cut.lost} drop`;
  return `ip ${end} { ${cut.addresses.join(', ')} } drop`;
}
