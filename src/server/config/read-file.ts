import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { configShape } from '../../settings/config.ts'
import { describeAt, relaxed } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { isObject, type Path, type Place, placeOf, put, type Source, valueAt } from '../../shape/place.ts'
import { normalize } from '../../shape/read.ts'
import { codeOf } from '../../shape/thrown.ts'
import { readYaml } from '../../shape/yaml.ts'
import { moveAutomationBroker } from './automation-broker.ts'
import { unfoldDots } from './dotted.ts'
import { ConfigError, toMistake } from './mistake.ts'
import { type Environment, substitute } from './placeholders.ts'
import { asSpringReads, isSpringFile, readSpring } from './spring.ts'

export interface FileSettings {
  readonly source: Source
  readonly mistakes: readonly Mistake[]
}

/** The settings of a file under their own names, with what the environment says in place of placeholders. */
export async function readConfigFile(file: string, env: Environment): Promise<FileSettings> {
  const name = basename(file)
  const whole = { path: [], place: { source: name } }
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const remedy = 'correct it, or name another with --config'
    throw new ConfigError([{ ...whole, problem: `${file} cannot be read (${codeOf(error)})`, remedy }])
  }
  const mistakes: Mistake[] = []
  let source = parse(text, name, mistakes)
  let patterns: readonly Path[] = []
  const isSpring = isSpringFile(source)
  if (isSpring) ({ source, patterns } = readSpring(source, isKnown, file))
  const known = mistakes.filter(({ path }) => !isSpring || isKnown(path.slice(0, 1)))
  known.push(...moveAutomationBroker(source))
  const tidied = normalize(configShape, source, { lenient: true })
  source = tidied.source
  known.push(...tidied.mistakes.map(toMistake))
  substitute(source, env, (path, variable) => {
    known.push({
      path,
      place: placeOf(source, path) ?? whole.place,
      problem: `the environment variable ${variable} is not set`,
      remedy: `set it, or write a default: \${${variable}:default}`,
    })
  })
  for (const path of patterns) put(source, path, asSpringReads(valueAt(source.root, path)))
  return { source, mistakes: known }
}

function parse(text: string, name: string, mistakes: Mistake[]): Source {
  const { documents, faults } = readYaml(text, { name })
  mistakes.push(...faults)
  const [first, second] = documents
  const refuse = (place: Place | undefined, problem: string, remedy: string) =>
    mistakes.push({ path: [], place, problem, remedy })
  const root = second === undefined ? (first?.root ?? {}) : {}
  if (second !== undefined) refuse(second.place, 'the file holds several YAML documents', 'keep one')
  else if (!isObject(root))
    refuse({ source: name, line: 1 }, 'the file is not a map of settings', 'write "key: value" lines')
  const unfolded = unfoldDots({ root: isObject(root) ? root : {}, places: first?.places ?? new WeakMap() })
  mistakes.push(...unfolded.mistakes)
  return unfolded.source
}

/** Whether it is a setting, or what the Automation Broker calls one, in whichever spelling. */
function isKnown(path: Path): boolean {
  const { spellings } = describeAt(configShape, path.slice(0, -1)) ?? {}
  return spellings?.has(relaxed(String(path.at(-1)))) === true || (path.length === 1 && path[0] === 'registry')
}
