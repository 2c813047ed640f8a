/** What the pages about bundles say, against what is true. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ActionContext } from '../../src/author/context.ts'
import { bundleActions } from '../../src/bundle/actions.ts'
import { camelCase } from '../../src/bundle/mistakes.ts'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { type ActionFacts, toExtraVars, toInput } from '../../src/driver/bundle/facts.ts'
import { readState } from '../../src/driver/bundle/state.ts'
import { layOut } from '../../src/sandbox/inputs.ts'
import { showPath } from '../../src/shape/place.ts'
import { blocksOf, rowsUnder } from '../docs/pages.ts'
import { useProcesses } from './process.ts'

const guide = 'docs/guides/bundles.md'
const contract = 'docs/reference/bundle-contract.md'
const spec = 'docs/reference/bundle-spec.md'
const processes = useProcesses()

describe(guide, () => {
  it('has a bundle that works as it stands there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-guide-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const files = blocksOf(guide).filter(({ marker }) => marker === 'bundle')
    expect(files.map(({ argument }) => argument)).toEqual(['bundle.yml', 'entrypoint.sh'])
    for (const { argument, text } of files) writeFileSync(join(folder, argument), text, { mode: 0o755 })

    const { run, succeed, state } = await processes.open(folder, 'bundle.yml', {})
    const ask = { instance: 'mine', plan: 'free', parameters: { greeting: 'Ahoy "you"' }, binding: 'app' }
    expect(await run('provision', ask)).toMatchObject({ code: 0, progress: 'learning the greeting' })
    expect(state('mine')).toEqual({ greeting: 'Ahoy "you"' })
    const { text, token } = await succeed('bind', ask)
    expect([text, token]).toEqual(['Ahoy "you"', expect.stringMatching(/^[0-9a-f]{48}$/)])
    expect(state('mine/app')).toEqual({ token })
    await succeed('update', { ...ask, parameters: { greeting: 'Bye' } })
    expect(state('mine')).toEqual({ greeting: 'Bye' })
    await succeed('unbind', ask)
    await succeed('deprovision', ask)
  })
})

describe(contract, () => {
  const facts: ActionFacts = {
    ctx: { operation: { id: 'o' }, instance: { id: 'i', context: {} }, plan: { id: 'p', name: 'p' } } as ActionContext,
    action: 'unbind',
    revision: { serviceId: 's', fullName: 's', offering: { plans: [] } } as unknown as ActionFacts['revision'],
    state: readState({}),
    parameters: {},
    // An action that is everything at once.
    binding: { info: { id: 'b', bindResource: {}, context: {} }, state: readState({}), parameters: {} },
    previous: { planId: 'p', parameters: {} },
    secrets: {},
  }

  it('lists what the request holds, and nothing else', () => {
    expect(keysUnder(contract, 'The request').toSorted()).toEqual(Object.keys(toInput(facts)).toSorted())
  })

  it('lists the variables for Ansible, and no others', () => {
    const listed = keysUnder(contract, 'Extra variables').filter(name => !name.includes('<'))
    expect(listed.toSorted()).toEqual(['_apb_state', ...Object.keys(toExtraVars(facts))].toSorted())
  })

  it('lists the variables of the environment, and no others', () => {
    const places = { input: '/i', output: '/o', home: '/h', temporary: '/t' }
    const state = { key: 'value' }
    const podNames = { POD_NAME: 'o-1', POD_NAMESPACE: 'default' }
    const helpers = { 'ansible/library/x.py': '' }
    const inputs = { action: 'bind', input: {}, extraVars: {}, state, bindingState: state, helpers, env: podNames }
    const { env } = layOut(inputs, places)
    const listed = keysUnder(contract, 'Environment').map(name => name.replace('<key>', 'key'))
    expect(listed.toSorted()).toEqual(Object.keys(env).toSorted())
  })
})

describe(spec, () => {
  const odd = { 'not-known': 1 }
  const dependent = { name: 'p', type: 'string', dependencies: [{ key: 'q', ...odd }], ...odd }
  const plan = { name: 'a', description: 'a', parameters: [dependent, { name: 'q', type: 'string' }], ...odd }
  const base = { version: '1.0', name: 'x', description: 'x' }
  const { problems } = parseBundleSpec({ ...base, ...odd, plans: [plan], timeouts: odd, resources: odd }, 'x')
  const known = (place: string): readonly string[] => {
    const found = problems.find(({ path }) => showPath(path) === `${place}not-known`)
    return found?.remedy?.split('known here: ')[1]?.split(', ') ?? []
  }

  it.each([
    ['Top level', ''],
    ['A plan', 'plans[0].'],
    ['A parameter', 'plans[0].parameters[0].'],
  ])('lists every key under "%s", and no other', (heading, place) => {
    const listed = keysUnder(spec, heading)
    expect(known(place).length).toBeGreaterThan(5)
    expect(listed.map(camelCase).toSorted()).toEqual(known(place).toSorted())
  })

  it('lists the limits', () => {
    const listed = keysUnder(spec, 'Timeouts and resources')
    expect(listed).toEqual([
      ...bundleActions,
      ...known('resources.').filter(key => !bundleActions.includes(key as never)),
    ])
    expect(known('timeouts.')).toEqual(bundleActions)
  })

  it('lists the types', () => {
    const parameters = [{ name: 'p', type: 'odd' }]
    const wrong = parseBundleSpec({ ...base, plans: [{ name: 'a', description: 'a', parameters }] }, 'x')
    const told = wrong.problems[0]?.problem.split('use one of ')[1]?.split(', ')
    expect(told?.toSorted()).toEqual(keysUnder(spec, 'Types').toSorted())
  })

  it('shows specs that can be used', () => {
    const [first] = blocksOf(spec).filter(({ language }) => language === 'yaml')
    expect(parseBundleSpec(first?.text, 'the example').problems).toEqual([])
  })
})

/** The code in the first cells of the tables under a heading. */
function keysUnder(page: string, heading: string): readonly string[] {
  return rowsUnder(page, heading).map(([key = '']) => key.replaceAll('`', ''))
}
