import type { SandboxSpec } from '../../sandbox.ts'
import { asImage } from '../container/image.ts'
import { placesInside } from '../container/to-container.ts'
import type { Layout } from '../inputs.ts'
import type { CarriedInputs } from './inputs.ts'
import { keeperScript, unpackScript } from './keeper.ts'
import { isObjectName, pullSecret, serviceAccountOf, stateMap } from './objects.ts'
import { homeLabel, type SandboxRecord } from './records.ts'
import type { PodSettings } from './settings.ts'

export const bundleContainer = 'bundle'
export const keeperContainer = 'keeper'

/** What a pod keeps after its time, for a broker that was away. */
const keptSeconds = 24 * 3600
const varsVariable = 'BUNDLE_EXTRA_VARS'
const tokens = '/var/run/secrets/kubernetes.io/serviceaccount'
const stateFolder = '/etc/apb/state'

export interface PodParts {
  readonly spec: SandboxSpec
  readonly record: SandboxRecord
  readonly layout: Layout
  readonly carried: CarriedInputs
  /** How many of the broker's own Secrets for images there are. */
  readonly pullSecrets: number
  readonly restartsKeeper: boolean
  readonly settings: PodSettings
}

/**
 * The pod of a sandbox. Nothing in it is secret: whoever may look at pods can read it. It is a pod and not a Job, since a Job
 * may start its program twice, and since its name is the one that bundles of the Automation Broker count on. The bundle is
 * started once. The keeper may be started again: without it, what the bundle left would go with the pod. A node starts containers in
 * their order: the keeper is there before the bundle can start too many processes.
 */
export function toPod({ spec, record, layout, carried, pullSecrets, restartsKeeper, settings }: PodParts) {
  const { limits, inputs } = spec
  const program = asImage(spec.program)
  const { user } = settings
  const readsJson = carried.vars !== undefined
  const hasState = Object.keys(inputs.state).length > 0
  const secrets = (inputs.secrets ?? []).filter(({ name }) => isObjectName(name))
  const mount = (name: string, mountPath: string, readOnly = false) => ({ name, mountPath, readOnly })
  const output = mount('output', placesInside.output)
  const seconds = Math.ceil(limits.time / 1000)
  const security = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  }
  const tools = (name: string, script: string, more: object) => ({
    name,
    image: settings.toolsImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/busybox', 'sh', '-c', script],
    securityContext: { ...security, readOnlyRootFilesystem: true },
    resources: { limits: { memory: '64Mi', 'ephemeral-storage': '64Mi' }, requests: { cpu: '10m', memory: '8Mi' } },
    ...more,
  })
  return {
    metadata: {
      name: record.name,
      labels: { [homeLabel]: record.home, ...originalLabels(spec, record) },
      annotations: { 'kubectl.kubernetes.io/default-container': bundleContainer },
      // Whoever deletes it ends it, and how it ended stays known until it is let go: it cannot be made, and run, again.
      finalizers: ['purser.dev/sandbox'],
    },
    spec: {
      restartPolicy: 'Never',
      // The keeper ends it earlier; this is for a keeper that is gone, and for a broker that never comes back.
      activeDeadlineSeconds: seconds + keptSeconds,
      terminationGracePeriodSeconds: 1,
      shareProcessNamespace: true,
      enableServiceLinks: false,
      serviceAccountName: serviceAccountOf(record),
      // Only the bundle gets the token.
      automountServiceAccountToken: false,
      nodeSelector: settings.nodeSelector,
      imagePullSecrets: [
        ...(program.credentials === undefined ? [] : [{ name: pullSecret }]),
        ...Array.from({ length: pullSecrets }, (_, index) => ({ name: `${pullSecret}-${index}` })),
      ],
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user.uid,
        // With the group of root, as OpenShift runs images: bundles count on it.
        runAsGroup: 0,
        fsGroup: user.gid,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(carried.unpacking === undefined
        ? {}
        : { initContainers: [tools('inputs', unpackScript, { volumeMounts: carried.unpacking })] }),
      containers: [
        tools(keeperContainer, keeperScript, {
          ...(restartsKeeper ? { restartPolicy: 'Always' } : {}),
          resources: {
            // The pod's limit is that of its containers together: with room for the folders, only the log can exceed it.
            limits: { memory: '64Mi', 'ephemeral-storage': String(3 * settings.disk + 64 * 1024 * 1024) },
            requests: { cpu: '10m', memory: '8Mi', 'ephemeral-storage': '1Mi' },
          },
          env: [
            { name: 'TIME', value: String(seconds) },
            { name: 'PROCESSES', value: limits.processes === undefined ? '' : String(limits.processes) },
          ],
          volumeMounts: [output, mount('keeper', '/run/keeper')],
        }),
        {
          name: bundleContainer,
          image: program.image,
          imagePullPolicy: { always: 'Always', 'if-missing': 'IfNotPresent', never: 'Never' }[program.pull],
          ...(program.entrypoint === undefined ? {} : { command: [program.entrypoint] }),
          args: argumentsOf(spec, layout, readsJson),
          env: environmentOf(layout, carried, hasState),
          securityContext: security,
          resources: {
            limits: {
              ...(limits.memory === undefined ? {} : { memory: String(limits.memory) }),
              ...(limits.cpu === undefined ? {} : { cpu: String(limits.cpu) }),
              'ephemeral-storage': String(settings.disk + (limits.output ?? 0)),
            },
          },
          volumeMounts: [
            ...carried.mounts,
            output,
            mount('home', placesInside.home),
            mount('temporary', placesInside.temporary),
            mount('token', tokens, true),
            ...(hasState ? [mount(stateMap, stateFolder, true)] : []),
            ...secrets.map(({ name }) => mount(`apb-${name}`, `/etc/apb-secrets/apb-${name}`, true)),
          ],
        },
      ],
      volumes: [
        ...carried.volumes,
        ...['output', 'home', 'temporary', 'keeper'].map(name => ({
          name,
          emptyDir: { sizeLimit: String(settings.disk) },
        })),
        { name: 'token', projected: { sources: tokenSources } },
        ...(hasState ? [{ name: stateMap, configMap: { name: stateMap } }] : []),
        ...secrets.map(({ name }) => ({ name: `apb-${name}`, secret: { secretName: name } })),
      ],
    },
  }
}

const tokenSources = [
  { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
]

/** As the Automation Broker labelled them. */
export function originalLabels({ inputs }: SandboxSpec, { name, bundle }: Pick<SandboxRecord, 'name' | 'bundle'>) {
  return {
    ...(bundle === undefined ? {} : { 'bundle-fqname': bundle.slice(0, 63) }),
    'bundle-action': inputs.action,
    'bundle-pod-name': name,
  }
}

/**
 * An entry point of the Automation Broker takes JSON and no file. The cluster puts it in from a Secret when it starts the
 * container, so that it is in no object that others may read.
 */
function argumentsOf({ inputs }: SandboxSpec, { args }: Layout, readsJson: boolean): readonly string[] {
  return readsJson ? [inputs.action, '--extra-vars', `$(${varsVariable})`] : args.map(escapeVariables)
}

function environmentOf(layout: Layout, { vars }: CarriedInputs, hasState: boolean) {
  const { POD_NAME, POD_NAMESPACE, HOME = '', ...others } = layout.env
  const given = {
    // A base image keeps in its home what its tools look for there.
    ...(vars === undefined ? { HOME } : {}),
    ...others,
    ...(hasState ? { BUNDLE_STATE_LOCATION: stateFolder } : {}),
  }
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
  return [
    fromPod('POD_NAME', 'metadata.name'),
    fromPod('POD_NAMESPACE', 'metadata.namespace'),
    ...Object.entries(given).map(([name, value]) => ({ name, value: escapeVariables(value) })),
    ...(vars === undefined ? [] : [{ name: varsVariable, valueFrom: { secretKeyRef: vars } }]),
  ]
}

/** The cluster would put values in the place of names. */
function escapeVariables(text: string): string {
  return text.replaceAll('$(', () => '$$(')
}
