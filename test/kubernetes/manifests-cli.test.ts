import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'

const reason = whyNoApiServer()

describe.skipIf(reason !== undefined)(
  `purser bundle, with manifests${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    beforeAll(async () => {
      server = await startApiServer()
    })
    afterAll(() => server?.stop())

    it('init writes a bundle that lint takes and run makes, in the namespace of the context', async () => {
      const cwd = await makeFolder()
      const env = { KUBECONFIG: server.kubeconfig }
      const run = (...args: readonly string[]) => runCli(['bundle', ...args], { cwd, env })
      expect(await run('init', '--manifests', 'mine')).toMatchObject({ code: 0 })
      expect((await readdir(join(cwd, 'mine'))).sort()).toEqual(['.gitignore', 'bundle.yml'])
      expect(await run('lint', 'mine')).toMatchObject({ code: 0, out: 'mine: can be used\n' })
      const shown = await run('show', 'mine')
      expect(shown.out).toMatch(/makes in a cluster +ConfigMap, Secret/)
      const provision = await run('run', 'provision', 'mine', '--param', 'greeting=Hi')
      expect(provision, provision.err).toMatchObject({ code: 0 })
      const bound = await run('run', 'bind', 'mine', '--show-credentials', '--output', 'json')
      expect(bound, bound.err).toMatchObject({ code: 0 })
      expect(bound.out).toMatch(/"password": "[A-Za-z0-9]{24}"/)
      const cluster = await server.connect()
      const count = async (plural: string) =>
        (
          await cluster.call<{ items: unknown[] }>('GET', `/api/v1/namespaces/default/${plural}`, {
            query: { labelSelector: 'app.kubernetes.io/managed-by=purser' },
          })
        ).items.length
      expect([await count('configmaps'), await count('secrets')]).toEqual([1, 1])
      expect(await run('run', 'unbind', 'mine')).toMatchObject({ code: 0 })
      expect(await run('run', 'deprovision', 'mine')).toMatchObject({ code: 0 })
      expect([await count('configmaps'), await count('secrets')]).toEqual([0, 0])
    })
  },
)
