import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { nameOf } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import type { Runtime } from '../../src/sandbox.ts'
import { buildApbImage, whyNoApbBase } from '../external/apb-base.ts'
import { sandboxUser } from '../external/container-engine.ts'
import type { TestedEngine } from '../external/engines.ts'
import { createRunner } from '../sample-bundles/runner.ts'

const source = `
version: 1.0
name: thing-apb
description: a thing
bindable: true
async: optional
plans:
  - name: default
    description: the only one
    free: true
    parameters:
      - { name: thing_note, type: string }
      - { name: thing_password, type: string, display_type: password }
`

const playbook = (action: string) =>
  JSON.stringify([
    {
      name: action,
      hosts: 'localhost',
      gather_facts: false,
      connection: 'local',
      roles: [{ role: 'ansibleplaybookbundle.asb-modules' }, { role: 'thing-apb', thing_action: action }],
    },
  ])
const when = (condition: string, task: object) => ({ ...task, when: condition })
const tasks = [
  { command: 'id -un', register: 'who', changed_when: false },
  {
    command: 'cat /etc/apb-secrets/apb-server/admin_password /opt/apb/env/passwords',
    register: 'secret',
    changed_when: false,
  },
  { assert: { that: ['secret.stdout == "operators-canary---\\nadmin_password: operators-canary"'] } },
  when('thing_action == "provision"', {
    asb_set_state: { fields: { db: 'db-1', note: '{{ thing_note }}', token: 'state-canary' } },
  }),
  when('thing_action == "provision"', {
    asb_encode_binding: { fields: { DB: 'db-1', PASSWORD: '{{ thing_password }}', WHO: '{{ who.stdout }}' } },
  }),
  when('thing_action == "provision"', { asb_last_operation: { description: 'ready' } }),
  when('thing_action != "provision"', {
    assert: {
      that: [
        '_apb_provision_creds.PASSWORD == "p  w * é-canary"',
        '_apb_state.note == "two  spaces *"',
        'state_db == "db-1"',
      ],
    },
  }),
  when('thing_action == "bind"', {
    asb_encode_binding: { fields: { DB: '{{ _apb_state.db }}', USER: 'u-{{ _apb_service_binding_id }}' } },
  }),
  when('thing_action == "unbind"', { assert: { that: ['_apb_bind_creds.USER == "u-app"'] } }),
]

/** An image built on the Automation Broker's base, unmodified, through every action. */
export async function testApbImages({ engineName, reason: none, start }: TestedEngine): Promise<void> {
  const reason = none ?? (await whyNoApbBase())
  describe.skipIf(reason !== undefined)(
    `an image on apb-base (${engineName})${reason ? ` (skipped: ${reason})` : ''}`,
    () => {
      it('runs unmodified through every action, and shows nobody a secret', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'purser-apb-'))
        onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
        const built = buildApbImage(source, {
          ...Object.fromEntries(
            ['provision', 'bind', 'unbind', 'deprovision'].map(action => [
              `/opt/apb/actions/${action}.yml`,
              playbook(action),
            ]),
          ),
          '/opt/ansible/roles/thing-apb/tasks/main.yml': JSON.stringify(tasks),
        })
        onTestFinished(() => built.remove())
        const engine = await start()
        onTestFinished(() => engine.stop())
        const image = await engine.load(built.archive, built.changes)
        const runtime = createContainerRuntime({
          socket: engine.socket,
          folder: join(folder, 's'),
          user: sandboxUser,
          clock: systemClock,
        })
        const seen: string[] = []
        const watched: Runtime = {
          ...runtime,
          async collect(name, secrets) {
            const answer = await createEngine(engine.socket).call('GET', `/containers/${nameOf(name)}/json`)
            seen.push(JSON.stringify(await answer.json()))
            return runtime.collect(name, secrets)
          },
        }
        const program = { kind: 'image', image, pull: 'never' } as const
        const secrets = { admin_password: 'operators-canary' }
        const { run, succeed, state } = await createRunner(watched, { source, program, secrets })
        const parameters = { thing_note: 'two  spaces *', thing_password: 'p  w * é-canary' }
        const ask = { instance: 'mine', plan: 'default', parameters }
        const provisioned = await run('provision', ask)
        expect(provisioned, provisioned.log).toMatchObject({ code: 0, progress: 'ready', outputs: { problems: [] } })
        expect(provisioned.outputs.credentials).toMatchObject({ DB: 'db-1', PASSWORD: 'p  w * é-canary' })
        expect(state('mine')).toMatchObject({ db: 'db-1', note: 'two  spaces *' })
        expect(await succeed('bind', { ...ask, binding: 'app' })).toEqual({ DB: 'db-1', USER: 'u-app' })
        expect(await run('update', ask)).toMatchObject({ code: 8 })
        await succeed('unbind', { ...ask, binding: 'app' })
        await succeed('deprovision', ask)
        expect(seen).toHaveLength(5)
        expect(seen.filter(text => text.includes('canary'))).toEqual([])
      }, 600_000)
    },
  )
}
