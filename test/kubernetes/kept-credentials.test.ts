/** What apb-base does for images of runtime 1: `bind-init` waits, and `broker-bind-creds` hands over what it waits with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Runtime, SandboxSpec } from '../../src/sandbox.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { connectNode, whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage } from '../external/kubernetes-image.ts'
import { createHome, destroyHome, leftoversOf, openRuntime, toolsImage } from './subject.ts'

const reason = whyNoNode()
const image = 'localhost/purser-test-kept:1'

const entrypoint = `#!/bin/sh
sleep 2
[ "$1" = deprovision ] && exit 0
echo '{"user":"admin","password":"sesame-kept"}' | base64 > /var/tmp/new && mv /var/tmp/new /var/tmp/bind-creds
i=0
while [ -f /var/tmp/bind-creds ]; do i=$((i + 1)); [ $i -gt 600 ] && exit 9; sleep 0.5; done
exit 0
`
const bindCreds = `#!/bin/sh
[ -f /var/tmp/bind-creds ] || exit 2
cat /var/tmp/bind-creds && rm /var/tmp/bind-creds
`

describe.skipIf(reason !== undefined)(
  `a bundle of runtime 1${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let home: string
    let runtime: Runtime

    beforeAll(async () => {
      await makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] })
      const files = { './bin/broker-bind-creds': bindCreds, './entrypoint.sh': entrypoint }
      await makeNodeImage(image, { entrypoint: ['/entrypoint.sh'], files, open: ['./var/tmp'] })
      home = await createHome()
      runtime = await openRuntime(home)
    })
    afterAll(() => destroyHome(home))

    const specOf = (name: string, action: string, keepsCredentials = true): SandboxSpec => ({
      name,
      labels: {},
      program: { kind: 'image', image, pull: 'never', readsJson: true, keepsCredentials },
      inputs: { action, input: {}, extraVars: {}, state: {}, helpers: {}, env: {} },
      limits: { time: 300_000 },
      network: 'allowed',
    })

    it('has its credentials fetched while it waits, and goes on then', async () => {
      await runtime.start(specOf('prov', 'provision'))
      expect(await runtime.wait('prov', never())).toEqual({ kind: 'exited', code: 0 })
      const { outputs, log } = await runtime.collect('prov', [])
      expect(outputs).toMatchObject({ credentials: { user: 'admin', password: 'sesame-kept' }, problems: [] })
      expect(log).not.toContain('sesame-kept')
      const { items } = await (await connectNode()).call<{ items: object[] }>('GET', '/api/v1/pods')
      expect(JSON.stringify(items)).not.toContain('sesame-kept')
      await runtime.remove('prov')
      expect(await leftoversOf(home)).toEqual([])
    })

    it('is not asked where its action gives none', async () => {
      await runtime.start(specOf('depr', 'deprovision'))
      expect(await runtime.wait('depr', never())).toEqual({ kind: 'exited', code: 0 })
      expect((await runtime.collect('depr', [])).outputs.credentials).toBeUndefined()
    })

    it('has them fetched by another broker, when the first one is gone', async () => {
      await runtime.start(specOf('bind', 'bind'))
      const gone = new AbortController()
      gone.abort()
      expect(await runtime.wait('bind', gone.signal)).toEqual({ kind: 'running' })
      const other = await openRuntime(home)
      expect(await other.wait('bind', never())).toEqual({ kind: 'exited', code: 0 })
      expect((await other.collect('bind', [])).outputs.credentials).toEqual({ user: 'admin', password: 'sesame-kept' })
    })
  },
)
