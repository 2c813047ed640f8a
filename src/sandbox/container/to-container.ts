import type { SandboxSpec } from '../../sandbox.ts'
import { terminationLog, type User } from '../folders.ts'
import { type Layout, type Places, secretsFolder } from '../inputs.ts'
import { asImage, type ImageFacts } from './image.ts'
import { launcher } from './launcher.ts'

/** Where a container sees its folders. */
export const placesInside: Places = {
  input: '/run/bundle/input',
  output: '/run/bundle/output',
  home: '/run/bundle/home',
  temporary: '/run/bundle/tmp',
}

/** Every container of ours has it; its value is the runtime's folder, which tells brokers on one engine apart. */
export const ownerLabel = 'purser.sandboxes'
export const limitsLabel = 'purser.limits'

/**
 * An engine without the rights of root gives the users in its containers other numbers outside: they could not write to the
 * folders of the broker. Podman can keep the number of one user (`keep-id`).
 */
export type UserNamespace = 'keep-id' | 'own'

export interface ContainerSettings {
  readonly image: ImageFacts
  readonly user: User
  readonly owner: string
  readonly folders: Places
  readonly userNamespace: UserNamespace
}

/** The body of the engine's "create". Nothing in it is secret: everybody who may ask the engine can read it. */
export function toContainer(spec: SandboxSpec, layout: Layout, settings: ContainerSettings) {
  const { image, user, owner, folders, userNamespace } = settings
  const { limits } = spec
  const { image: name, entrypoint } = asImage(spec.program)
  const [program, ...more] = image.entrypoint
  const isLaunched = image.readsJson && entrypoint === undefined && program !== undefined && more.length === 0
  // A base image keeps in its home what its tools look for there.
  const env = isLaunched && image.home !== undefined ? { ...layout.env, HOME: image.home } : layout.env
  const mount = (Source: string, Target: string, ReadOnly: boolean) => ({ Type: 'bind', Source, Target, ReadOnly })
  return {
    Image: name,
    Cmd: isLaunched ? [program, spec.inputs.action] : layout.args,
    Entrypoint: isLaunched ? launcher(layout.varsFile) : entrypoint === undefined ? undefined : [entrypoint],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    // With the group of root and a root folder of its own to write to, as OpenShift runs images: bundles count on it.
    User: `${user.uid}:0`,
    Labels: { ...spec.labels, [ownerLabel]: owner, [limitsLabel]: JSON.stringify(limits) },
    NetworkDisabled: spec.network === 'none',
    HostConfig: {
      NetworkMode: spec.network === 'none' ? 'none' : 'bridge',
      Mounts: [
        mount(folders.input, placesInside.input, true),
        mount(folders.output, placesInside.output, false),
        mount(folders.home, placesInside.home, false),
        mount(folders.temporary, placesInside.temporary, false),
        ...(layout.folders.includes(secretsFolder)
          ? [mount(`${folders.input}/${secretsFolder}`, '/etc/apb-secrets', true)]
          : []),
        mount(`${folders.output}/${terminationLog}`, `/dev/${terminationLog}`, false),
      ],
      UsernsMode: userNamespace === 'own' ? undefined : userNamespace,
      GroupAdd: [String(user.gid)],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: limits.processes ?? 1024,
      Memory: limits.memory,
      MemorySwap: limits.memory,
      NanoCpus: limits.cpu === undefined ? undefined : Math.round(limits.cpu * 1e9),
      // The engine keeps the log: it must not fill the disk.
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
    },
  }
}
