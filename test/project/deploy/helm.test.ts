// The chart: its values by their schema, its objects by Go's own templates and the types of Kubernetes. Helm
// itself is not a Debian package, so its other functions are not tested.
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { compiled } from '../../clients/typed/compiled.ts';
import { programIn } from '../../base/servers/daemon.ts';
import { DRAIN_SECONDS, deployed, readInstruction, SETTING_NAMES, yamlOf } from './deployFiles.ts';
import { type GoTemplates, startGoTemplates } from './goTemplates.ts';

const CHART = 'helm/tapedeck';
const chart = yamlOf(deployed(`${CHART}/Chart.yaml`)) as {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
};
type Values = Readonly<Record<string, unknown>>;
const values = yamlOf(deployed(`${CHART}/values.yaml`)) as Values;
const schema = JSON.parse(deployed(`${CHART}/values.schema.json`)) as {
  readonly properties: {
    readonly settings: {
      readonly propertyNames: { readonly not: { readonly enum: readonly string[] } };
    };
  };
};
const validate = new Ajv({ strict: true, allErrors: true, strictRequired: false }).compile(schema);
const faultsOf = (overrides: Values): readonly string[] => {
  validate({ ...values, ...overrides });
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
};
const text = (name: string): string => deployed(`${CHART}/templates/${name}`);

test('the chart has the version of the package', () => {
  expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
});

describe('values', () => {
  test('the default values are valid', () => expect(faultsOf({})).toEqual([]));

  for (const [overrides, fault] of [
    [{ replicas: 2 }, ' additionalProperties'],
    [{ nodes: 0 }, '/nodes minimum'],
    [{ nodes: 2 }, '/secretName minLength'],
    [{ nodes: 2, secretName: 'mine' }, '/settings required'],
    [{ nodes: 2, settings: { TAPEDECK_DATA: '/data' } }, '/settings/TAPEDECK_DATA pattern'],
    [{ settings: { TAPEDECK_STANDBY: 'on' } }, '/settings not'],
    [{ drainSeconds: 0 }, '/drainSeconds minimum'],
    [{ settings: { TAPEDECK_CHILDREN: 2 } }, '/settings/TAPEDECK_CHILDREN type'],
    [{ settings: { CHILDREN: '2' } }, '/settings pattern'],
    [{ settings: { TAPEDECK_SECRET_TOKEN: 'sk_1' } }, '/settings not'],
    [{ settings: { TAPEDECK_PORT: '80' } }, '/settings not'],
    [{ persistence: { size: '20' } }, '/persistence/size pattern'],
    [{ image: { tag: '1' } }, '/image required'],
  ] as const) {
    test(`${JSON.stringify(overrides)} is refused`, () =>
      expect(faultsOf(overrides)).toContain(fault));
  }

  test('every refused setting exists, and every secret is refused', () => {
    const refused = schema.properties.settings.propertyNames.not.enum;
    expect(refused.filter((name) => !SETTING_NAMES.has(name))).toEqual([]);
    const secrets = [...SETTING_NAMES].filter((name) => /TOKEN|SECRET|ENCRYPTION_KEY/.test(name));
    expect(secrets.filter((name) => !refused.includes(name))).toEqual([]);
  });

  test('each value is used by a template, and templates use no other', () => {
    const templates = ['_names.tpl', 'service.yaml', 'statefulset.yaml'].map(text).join('\n');
    const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path));
    const there = Object.entries(values).flatMap(([name, value]) =>
      ['image', 'tls', 'service', 'persistence'].includes(name)
        ? Object.keys(value as object).map((part) => `${name}.${part}`)
        : [name],
    );
    expect([...used].sort()).toEqual(there.sort());
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme?: string };
}

interface StatefulSet {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly serviceName: string;
    readonly selector: { readonly matchLabels: Values };
    readonly template: { readonly metadata: { readonly labels: Values }; readonly spec: Pod };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly labels: Values } }[];
  };
}

interface Pod extends Values {
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

interface Container extends Values {
  readonly image: string;
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: unknown;
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Service {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: Values; readonly ports: readonly Values[] };
}

const SEVERAL: Values = {
  nodes: 3,
  secretName: 'secrets',
  settings: { TAPEDECK_DATA: 's3://bucket/deck' },
};

/** All values that may be set beyond the defaults. */
const EVERYTHING: Values = {
  image: { repository: 'images.example/tapedeck', tag: 'mine', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  settings: { TAPEDECK_BODY_BYTES: '4294967296', TAPEDECK_ATTRIBUTION: 'a "b": `c`' },
  secretName: 'secrets',
  drainSeconds: 3600,
  tls: { secretName: 'certificate' },
  service: { type: 'LoadBalancer', port: 443 },
  persistence: { size: '1Ti', storageClassName: 'fast' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

describe('objects', async () => {
  const isMissing = (await programIn('caddy', ['/usr/bin'])) === undefined;
  const objectTest = test.skipIf(isMissing && process.env['CI'] !== 'true');
  let go: GoTemplates;
  beforeAll(async () => {
    const started = await startGoTemplates(text('_names.tpl'));
    if (started !== undefined) go = started;
    else expect(process.env['CI'], 'caddy is missing (Debian: caddy)').not.toBe('true');
  });
  afterAll(() => go?.[Symbol.asyncDispose]());

  async function objects(
    overrides: Values,
    release = 'prices',
  ): Promise<readonly [StatefulSet, Service]> {
    const context = {
      Values: { ...values, ...overrides },
      Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
      Release: { Name: release, Service: 'Helm' },
    };
    expect(faultsOf(overrides)).toEqual([]);
    const [set, service] = await Promise.all(
      ['statefulset.yaml', 'service.yaml'].map((name) => go.render(text(name), context)),
    );
    return [yamlOf(set ?? '') as StatefulSet, yamlOf(service ?? '') as Service];
  }

  const containerOf = (set: StatefulSet): Container =>
    set.spec.template.spec.containers[0] ?? expect.fail('no container');

  objectTest('one server matches the image', async () => {
    const [set, service] = await objects({});
    const { spec: pod } = set.spec.template;
    const container = containerOf(set);
    expect(set.spec.replicas).toBe(1);
    expect(container.image).toBe(`tapedeck:${manifest.version}`);
    const { runAsUser, runAsGroup } = pod.securityContext;
    expect(`${runAsUser}:${runAsGroup}`).toBe(readInstruction('USER'));
    expect(container.ports.map(({ containerPort }) => String(containerPort))).toEqual([
      readInstruction('EXPOSE'),
    ]);
    expect(container.volumeMounts).toContainEqual({
      name: 'data',
      mountPath: readInstruction('VOLUME'),
    });
    expect(container.env).toContainEqual({
      name: 'TAPEDECK_DRAIN',
      value: String(DRAIN_SECONDS * 1000),
    });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_SECONDS);
    expect(pod.enableServiceLinks).toBe(false);
    expect([container['envFrom'], pod['affinity']]).toEqual([undefined, undefined]);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual(
      ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'api' })),
    );
    expect(service.spec.ports).toEqual([{ name: 'api', port: 8080, targetPort: 'api' }]);
  });

  objectTest(
    'its objects refer to each other, and an upgrade changes no immutable field',
    async () => {
      for (const release of ['prices', 'tapedeck', 'a'.repeat(53)]) {
        const [set, service] = await objects({}, release);
        expect(service.metadata.name).toBe(set.spec.serviceName);
        expect(set.metadata.name).toBe(set.spec.serviceName);
        expect(set.metadata.name).toMatch(/^[a-z-]{8,52}$/);
        const { matchLabels } = set.spec.selector;
        expect(service.spec.selector).toEqual(matchLabels);
        expect(set.spec.template.metadata.labels).toMatchObject(matchLabels);
        const claims = set.spec.volumeClaimTemplates.map(({ metadata }) => metadata.labels);
        expect(claims).toEqual([matchLabels]);
        expect(JSON.stringify(matchLabels)).not.toContain(manifest.version);
      }
    },
  );

  objectTest('several nodes reach each other by the addresses of their pods', async () => {
    const [set] = await objects(SEVERAL);
    expect(set.spec.replicas).toBe(3);
    const { env } = containerOf(set);
    expect(env).toContainEqual({ name: 'TAPEDECK_STANDBY', value: 'on' });
    const valueFrom = { fieldRef: { fieldPath: 'status.podIP' } };
    expect(env).toContainEqual({ name: 'TAPEDECK_NODE_HOST', valueFrom });
    const [alone] = await objects({});
    expect(JSON.stringify(alone)).not.toContain('TAPEDECK_NODE_HOST');
  });

  objectTest('every value reaches the objects', async () => {
    const [set, service] = await objects(EVERYTHING);
    const { spec: pod } = set.spec.template;
    const container = containerOf(set);
    expect(container.image).toBe('images.example/tapedeck:mine');
    expect(container['envFrom']).toEqual([{ secretRef: { name: 'secrets' } }]);
    expect(Object.fromEntries(container.env.map(({ name, value }) => [name, value]))).toEqual({
      TAPEDECK_DRAIN: '3600000',
      TAPEDECK_TLS_CERT: '/etc/tapedeck/tls/tls.crt',
      TAPEDECK_TLS_KEY: '/etc/tapedeck/tls/tls.key',
      ...(EVERYTHING['settings'] as object),
    });
    expect(container.readinessProbe.httpGet.scheme).toBe('HTTPS');
    expect(pod.terminationGracePeriodSeconds).toBe(3610);
    for (const name of ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity']) {
      expect([name, pod[name]]).toEqual([name, EVERYTHING[name]]);
    }
    const mounted = container.volumeMounts.map(({ name }) => name);
    expect(mounted).toEqual(['data', 'tmp', 'tls']);
    expect(pod.volumes.map(({ name }) => name)).toEqual(['tmp', 'tls']);
    expect(service.spec.ports[0]).toMatchObject({ port: 443, targetPort: 'api' });
  });

  objectTest('the types of Kubernetes have every field of the objects', async () => {
    const written = async (overrides: Values): Promise<string> => {
      const [set, service] = (await objects(overrides)).map((object) => JSON.stringify(object));
      return `{ const set: StatefulSet = ${set}; const service: Service = ${service}; void [set, service]; }`;
    };
    const types = [
      "import type { StatefulSet } from 'kubernetes-types/apps/v1.js';",
      "import type { Service } from 'kubernetes-types/core/v1.js';",
    ].join('\n');
    const all = [{}, EVERYTHING, SEVERAL].map(written);
    await compiled(`${types}\n${(await Promise.all(all)).join('\n')}\n`);
    const wrong = (await written({})).replace(
      '"readOnlyRootFilesystem"',
      '"readonlyRootFilesystem"',
    );
    await expect(compiled(`${types}\n${wrong}\n`)).rejects.toMatchObject({
      stdout: expect.stringContaining('readonlyRootFilesystem'),
    });
  });
});
