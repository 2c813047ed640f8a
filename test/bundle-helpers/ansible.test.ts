import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { whyNoAnsible } from '../external/ansible.ts'

const reason = await whyNoAnsible()
const helpers = join(import.meta.dirname, '..', '..', 'helpers', 'ansible')

describe.skipIf(reason !== undefined)(`the Ansible modules${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it('keep state, and look it up again in the same run and the next', async () => {
    const { play, left } = createAction({ host: 'db\n', old: 'x', gone: 'y' }, { user: 'me' })
    const { code, out, seen } = await play([
      { asb_set_state: { fields: { database: 'd "1"\n é', port: 5432, tls: true, list: [1, 'two'], old: null } } },
      { asb_set_state: { name: 'pairs', gone: null } },
      { asb_set_state: { fields: { database: 'd "1"\n é' } }, register: 'again' },
      { asb_set_state: { fields: { role: 'owner' }, scope: 'binding' } },
      note('one', "{{ lookup('asb_state', 'database') }}"),
      note('two', "{{ lookup('asb_state', 'host', 'name') }}"),
      note('all', "{{ lookup('asb_state', get_all=True) }}"),
      note('binding', "{{ lookup('asb_state', get_all=True, scope='binding') }}"),
      note('changed', '{{ again.changed }}'),
      note('missing', "{{ lookup('asb_state', 'old') }}", { ignore_errors: true, register: 'missing' }),
      note('why', '{{ missing.msg }}'),
      { asb_set_state: { fields: { 'a/b': '1' } }, ignore_errors: true, register: 'refused' },
      note('refused', '{{ refused.msg }}'),
    ])
    expect(code, out).toBe(0)
    expect(JSON.parse(left('state.json'))).toEqual({
      database: 'd "1"\n é',
      port: '5432',
      tls: 'True',
      list: '[1, "two"]',
      old: null,
      name: 'pairs',
      gone: null,
    })
    expect(JSON.parse(left('binding_state.json'))).toEqual({ role: 'owner' })
    expect(seen('one')).toBe('d "1"\n é')
    expect(seen('two')).toBe('db,pairs')
    expect(seen('all')).toEqual({
      database: 'd "1"\n é',
      host: 'db',
      port: '5432',
      tls: 'True',
      list: '[1, "two"]',
      name: 'pairs',
    })
    expect(seen('binding')).toEqual({ user: 'me', role: 'owner' })
    expect(seen('changed')).toBe(false)
    expect(seen('why')).toContain('the state has no key "old"')
    expect(seen('refused')).toContain('"a/b" cannot be a key of the state')
  })

  it('give out credentials, progress and a dashboard, and print no secret', async () => {
    const { play, left } = createAction({})
    const { code, out } = await play([
      { asb_last_operation: { description: '10%: creating\nthe database' } },
      { asb_encode_binding: { fields: { DB_HOST: 'db', DB_PORT: 5432, DB_PASSWORD: 'p"w é-canary' } } },
      { asb_encode_binding: { fields: { DB_NAME: 'd' } } },
      { asb_set_state: { fields: { token: 'state-canary' } } },
      { asb_dashboard_url: { dashboard_url: 'db.example.com/admin' } },
      { asb_last_operation: { description: '100%: ready' } },
    ])
    expect(code, out).toBe(0)
    const fields = { DB_HOST: 'db', DB_PORT: 5432, DB_PASSWORD: 'p"w é-canary', DB_NAME: 'd' }
    expect(JSON.parse(left('credentials.json'))).toEqual(fields)
    expect(left('progress')).toBe('10%: creating the database\n100%: ready\n')
    expect(left('dashboard_url')).toBe('http://db.example.com/admin')
    expect(out).toContain('asb_encode_binding')
    expect(out).not.toContain('canary')
  })

  it('save what a test has found, one result a call', async () => {
    const { play, left } = createAction({})
    const { code, out } = await play([
      { asb_save_test_result: { msg: 'it is\n1 é' } },
      { asb_save_test_result: { fail: true, msg: 'no answer' } },
      { asb_save_test_result: {} },
    ])
    expect(code, out).toBe(0)
    expect(left('test-result')).toBe('0 it is 1 é\n1 no answer\n0\n')
  })
})

type Task = Readonly<Record<string, unknown>>

/** A task that writes a value to where the test can read it. */
function note(name: string, value: string, more: Task = {}): Task {
  return { copy: { dest: `{{ notes }}/${name}`, content: `{{ value | to_json }}` }, vars: { value }, ...more }
}

function createAction(state: Readonly<Record<string, string>>, binding?: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'purser-ansible-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  for (const name of ['output', 'state', 'binding', 'notes']) mkdirSync(at(name))
  for (const [key, text] of Object.entries(state)) writeFileSync(join(at('state'), key), text)
  for (const [key, text] of Object.entries(binding ?? {})) writeFileSync(join(at('binding'), key), text)
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: 'C.UTF-8',
    // The helpers' folder is a source.
    PYTHONDONTWRITEBYTECODE: '1',
    ANSIBLE_REMOTE_TMP: at('tmp'),
    ANSIBLE_ROLES_PATH: join(helpers, 'roles'),
    ANSIBLE_LIBRARY: join(helpers, 'library'),
    ANSIBLE_LOOKUP_PLUGINS: join(helpers, 'lookup_plugins'),
    BUNDLE_OUTPUT: at('output'),
    BUNDLE_STATE: at('state'),
    ...(binding ? { BUNDLE_BINDING_STATE: at('binding') } : {}),
  }
  return {
    left: (name: string) => readFileSync(join(at('output'), name), 'utf8'),
    async play(tasks: readonly Task[]) {
      const roles = ['ansibleplaybookbundle.asb-modules']
      const playbook = [{ hosts: 'localhost', connection: 'local', gather_facts: false, roles, tasks }]
      writeFileSync(at('playbook.yml'), JSON.stringify(playbook))
      const args = ['-vvv', at('playbook.yml'), '--extra-vars', JSON.stringify({ notes: at('notes') })]
      const { code, out } = await new Promise<{ code: number; out: string }>(resolve =>
        execFile('ansible-playbook', args, { env, maxBuffer: 10_000_000 }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : 1, out: stdout + stderr }),
        ),
      )
      return { code, out, seen: (name: string) => JSON.parse(readFileSync(join(at('notes'), name), 'utf8')) as unknown }
    },
  }
}
