import { describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../bundle/spec.ts'
import { actionSettings, limitsFor } from './limits.ts'

function specWith(more: object) {
  const { spec, problems } = parseBundleSpec(
    { version: '1.0', name: 'x', description: 'x', bindable: false, async: 'optional', plans: [plan], ...more },
    'x',
  )
  if (spec === undefined) throw new Error(JSON.stringify(problems))
  return spec
}
const plan = { name: 'p', description: 'p', free: true }

describe('the limits of a sandbox', () => {
  it('are what the bundle asks for, and never more than the operator gives', () => {
    const spec = specWith({
      timeouts: { provision: '10m' },
      resources: { provision: { memory: '1Gi', cpu: 4 }, bind: { memory: '64Mi' } },
    })
    const most = { time: 60_000, memory: 512 * 1024 ** 2, output: 1000, processes: 50 }
    expect(limitsFor(spec, 'provision', most)).toEqual({
      time: 600_000,
      memory: 512 * 1024 ** 2,
      cpu: 4,
      output: 1000,
      processes: 50,
    })
    expect(limitsFor(spec, 'bind', most)).toMatchObject({ time: 60_000, memory: 64 * 1024 ** 2 })
    expect(limitsFor(spec, 'unbind', { time: 5 })).toEqual({ time: 5 })
  })
})

describe('the operations of a bundle', () => {
  it('may take longer than the bundle, and are as asynchronous as it says', () => {
    const settings = actionSettings(specWith({ async: 'required', timeouts: { provision: '10m' } }))
    expect(settings.provision).toEqual({ async: 'always', timeout: 900_000 })
    expect(settings.unbind).toEqual({ async: 'always' })
    expect(actionSettings(specWith({ async: 'unsupported' })).bind).toEqual({ async: 'never' })
    expect(actionSettings(specWith({})).bind).toEqual({ async: 'auto' })
  })
})
