import { isJsonObject } from '../../protocol/json.ts'
import { SandboxRefusedError } from '../../sandbox.ts'
import { type Engine, unavailable } from './engine.ts'

export type UserNamespace = 'keep-id' | 'own'

/**
 * The user namespace that containers need. An engine without the rights of root gives the users in its containers other
 * numbers outside: they could not write to the folders of the broker. Podman can keep the number of one user (`keep-id`).
 * The engine is asked once, because it takes long to answer.
 */
export function createUserNamespaceFinder(engine: Engine): () => Promise<UserNamespace> {
  // A broker that runs as root uses an engine that does so too.
  let found: UserNamespace | undefined = process.getuid?.() === 0 ? 'own' : undefined
  return async () => {
    found ??= await askFor(engine)
    return found
  }
}

async function askFor(engine: Engine): Promise<UserNamespace> {
  const answer = await engine.call('GET', '/info')
  const info = answer.status === 200 ? await answer.json() : undefined
  if (!isJsonObject(info)) throw await unavailable('asking the engine what it is', answer)
  if (info.Rootless === true) return 'keep-id'
  if (Array.isArray(info.SecurityOptions) && info.SecurityOptions.includes('name=rootless'))
    throw new SandboxRefusedError('a rootless Docker cannot run bundles; use Docker itself, or Podman')
  return 'own'
}
