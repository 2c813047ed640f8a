import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../clock.ts'
import type { RunningServer } from '../http/node.ts'
import { type Observer, toError } from '../observer.ts'
import { writeSensitive } from '../sensitive/marked.ts'
import type { Config } from './config.ts'
import { hasCredentials, refuseUnsafe } from './refuse-unsafe.ts'
import { watchFiles } from './reload.ts'
import type { SignIn } from './sign-in.ts'

export interface FollowParts {
  readonly config: Config
  /** Reads the configuration again. */
  load(): Promise<Config>
  /** Absent where everybody is let in. */
  readonly signIn: SignIn | undefined
  readonly server: RunningServer
  readonly observer: Observer
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Brings changed files of sign-in and of TLS into force until the signal is aborted. What cannot be used changes nothing. */
export function followFiles(parts: FollowParts, stopping: AbortSignal): Promise<void> {
  const { signIn, server, observer, env } = parts
  let config = parts.config

  async function reload(changed: readonly string[]): Promise<void> {
    const files = changed.join(', ')
    try {
      const next = changed.includes(config.file ?? '') ? withFixed(config, await parts.load()) : config
      if (signIn !== undefined && !hasCredentials(next))
        throw new Error('no credentials are configured any more: nobody could sign in')
      await refuseUnsafe(next, env)
      // All or nothing.
      const use = await signIn?.prepare(next)
      if (next.server.tls !== undefined) await server.reloadTls(next.server.tls)
      use?.()
      config = next
      observer['configuration.reloaded']?.({ files })
    } catch (error) {
      observer['configuration.reloadFailed']?.({ files, error: toError(error) })
    }
  }

  /** Only `auth` and the files of TLS can change while the broker runs. */
  function withFixed(before: Config, read: Config): Config {
    const { auth, server, ...others } = read
    const { auth: _auth, server: serverBefore, ...othersBefore } = before
    const tls = server.tls &&
      serverBefore.tls && { ...server.tls, clientCertificates: serverBefore.tls.clientCertificates }
    const isFixed =
      isDeepStrictEqual(toPlain({ ...others, plainSecrets: [] }), toPlain({ ...othersBefore, plainSecrets: [] })) &&
      isDeepStrictEqual({ ...server, tls }, { ...serverBefore, tls })
    if (!isFixed) observer['configuration.warning']?.({ message: onlyAuth })
    return {
      ...before,
      auth,
      server: { ...serverBefore, tls: tls ?? serverBefore.tls },
      plainSecrets: read.plainSecrets,
    }
  }

  const files = () => filesOf(config)
  return watchFiles({ files, every: config.auth.reloadEvery, clock: systemClock, onChange: reload }, stopping)
}

/** To be compared: two hidden values look alike. */
function toPlain(config: object): unknown {
  return JSON.parse(JSON.stringify(config, writeSensitive('revealed')))
}

const onlyAuth = 'settings besides auth and the files of server.tls have changed; they count after a restart'

function filesOf({ file, server: { tls }, auth }: Config): readonly string[] {
  const all = [file, tls?.cert, tls?.key, tls?.ca, tls?.crl, ...auth.jwt.map(({ keysFile }) => keysFile)]
  return all.filter(path => path !== undefined)
}
