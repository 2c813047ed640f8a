import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Document } from 'yaml'
import { catalogOf } from '../../catalog/spring/catalog.ts'
import { readSpringDocuments } from '../../catalog/spring/documents.ts'
import { configShape } from '../../settings/config.ts'
import { describeAt, relaxed } from '../../shape/describe.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { isObject, type Path, type Place, type Places, placeOf, put, type Source, valueAt } from '../../shape/place.ts'
import { type Environment, type LookUp, substitute } from '../../shape/placeholders.ts'
import { normalize } from '../../shape/read.ts'
import { codeOf } from '../../shape/thrown.ts'
import { readYaml } from '../../shape/yaml.ts'
import { moveAutomationBroker } from './automation-broker.ts'
import { putOver, unfoldDots } from './dotted.ts'
import { ConfigError, toMistake } from './mistake.ts'
import { findPlainSecrets } from './plain-secrets.ts'
import { asSpringReads, isSpringDocument, readSpring } from './spring.ts'

export interface FileSettings {
  readonly source: Source
  readonly mistakes: readonly Mistake[]
  /** Settings whose secret stands in the file. */
  readonly plainSecrets?: readonly string[]
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
  const { isSpring, hasCatalog, lookUp, fromEnv, ...parsed } = parse(text, { name, env, mistakes })
  let { source } = parsed
  let patterns: readonly Path[] = []
  if (isSpring) ({ source, patterns } = readSpring(source, isKnown, hasCatalog ? file : undefined))
  const known = mistakes.filter(({ path }) => !isSpring || isKnown(path.slice(0, 1)))
  known.push(...moveAutomationBroker(source))
  const tidied = normalize(configShape, source, { lenient: true })
  source = tidied.source
  known.push(...tidied.mistakes.map(toMistake))
  const plainSecrets = findPlainSecrets(source, variable => (fromEnv(variable) === undefined ? lookUp(variable) : ''))
  substitute(source, lookUp, (path, variable) => {
    known.push({
      path,
      place: placeOf(source, path) ?? whole.place,
      problem: `the environment variable ${variable} is not set`,
      remedy: `set it, or write a default: \${${variable}:default}`,
    })
  })
  for (const path of patterns) put(source, path, asSpringReads(valueAt(source.root, path)))
  return { source, mistakes: known, plainSecrets }
}

interface ParseOptions {
  readonly name: string
  readonly env: Environment
  readonly mistakes: Mistake[]
}

function parse(text: string, { name, env, mistakes }: ParseOptions) {
  let isSpring = false
  let hasCatalog = false
  let fromEnv: LookUp = variable => env[variable]
  let lookUp = fromEnv
  const pick = (document: Document, all: readonly Document[]) => {
    isSpring ||= name.endsWith('.properties') || all.some(isSpringDocument)
    if (!isSpring) return document.contents
    hasCatalog ||= catalogOf(document) !== undefined
    const spring = readSpringDocuments(all, env)
    ;({ lookUp, fromEnv } = spring)
    return spring.active.includes(document) ? document.contents : undefined
  }
  const { documents, faults } = readYaml(text, { name, pick })
  mistakes.push(...faults)
  const [first, second] = documents
  const refuse = (place: Place | undefined, problem: string, remedy: string) =>
    mistakes.push({ path: [], place, problem, remedy })
  if (second !== undefined && !isSpring) refuse(second.place, 'the file holds several YAML documents', 'keep one')
  else if (documents.some(({ root }) => !isObject(root ?? {})))
    refuse({ source: name, line: 1 }, 'the file is not a map of settings', 'write "key: value" lines')
  const places: Places = first?.places ?? new WeakMap()
  const parts = second === undefined || isSpring ? documents.map(({ root }) => root).filter(isObject) : []
  const unfolded = parts.map(root => unfoldDots({ root, places }))
  mistakes.push(...unfolded.flatMap(({ mistakes: found }) => found))
  const root = {}
  for (const part of unfolded) putOver(root, part.source.root, places)
  const source: Source = { root, places }
  return { source, isSpring, hasCatalog, lookUp, fromEnv }
}

/** Whether it is a setting, or what the Automation Broker calls one, in whichever spelling. */
function isKnown(path: Path): boolean {
  const { spellings } = describeAt(configShape, path.slice(0, -1)) ?? {}
  return spellings?.has(relaxed(String(path.at(-1)))) === true || (path.length === 1 && path[0] === 'registry')
}
