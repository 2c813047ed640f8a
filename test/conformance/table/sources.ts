import { readdirSync, readFileSync } from 'node:fs'
import { type Scenario, scanScenarios } from './scan.ts'

export interface Requirement {
  readonly id: string
  readonly level: string
  readonly text: string
}

/** Everything about conformance that is known without running a test. */
export interface Sources {
  readonly requirements: readonly Requirement[]
  /** Why a requirement has no test, by id. */
  readonly exceptions: ReadonlyMap<string, string>
  readonly scenarios: readonly Scenario[]
}

export const tablePath = new URL('../../../docs/reference/conformance.md', import.meta.url)

const folder = new URL('../', import.meta.url)

export function readSources(): Sources {
  const files = readdirSync(folder)
    .filter(name => name.endsWith('.test.ts'))
    .sort()
  return {
    requirements: JSON.parse(read('requirements.json')),
    exceptions: new Map(Object.entries(JSON.parse(read('exceptions.json')))),
    scenarios: files.flatMap(file => scanScenarios(file, read(file))),
  }
}

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8')
}
