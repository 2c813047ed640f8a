import { expect } from 'vitest'
import { formatMistake } from '../../src/bundle/mistakes.ts'
import { type BundleParameters, type BundleSpec, parseBundleSpec } from '../../src/bundle/spec.ts'

/** A spec as a registry would hand it over, with one plan. */
export function specWith(more: object = {}, plan: object = {}): object {
  return {
    version: '1.0',
    name: 'demo-apb',
    description: 'A demo',
    plans: [{ name: 'default', description: 'The only plan', ...plan }],
    ...more,
  }
}

export function parse(source: unknown): BundleSpec {
  const { spec, problems } = parseBundleSpec(source, 'bundle.yml')
  expect(problems.map(formatMistake).filter(text => text.includes(': error: '))).toEqual([])
  if (spec === undefined) throw new Error('no spec')
  return spec
}

export function parseParameters(parameters: unknown): BundleParameters {
  const [plan] = parse(specWith({}, { parameters })).plans
  if (plan === undefined) throw new Error('no plan')
  return plan.parameters
}

/** All problems as one would read them. */
export function problemsOf(source: unknown): string[] {
  return parseBundleSpec(source, 'bundle.yml').problems.map(formatMistake)
}

export function errorsOf(source: unknown): string[] {
  return problemsOf(source).filter(text => text.includes(': error: '))
}
