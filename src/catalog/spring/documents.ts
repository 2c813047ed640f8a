import { type Document, isMap } from 'yaml'
import { findNode, splitKey, textsOf } from '../../shape/find-node.ts'
import { type Environment, expand, type LookUp } from '../../shape/placeholders.ts'
import { splitList } from '../../shape/read.ts'
import { holds } from './profiles.ts'

/** The documents of a Spring application's file that count with these environment variables. */
export interface SpringDocuments {
  /** A later one goes over an earlier one. */
  readonly active: readonly Document[]
  readonly profiles: ReadonlySet<string>
  /** What a placeholder stands for: an environment variable, or another property of the file. */
  readonly lookUp: LookUp
  /** An environment variable alone, by the names that Spring takes it under. */
  readonly fromEnv: LookUp
}

export function readSpringDocuments(documents: readonly Document[], env: Environment): SpringDocuments {
  const fromEnv: LookUp = name => env[name] ?? env[toVariable(name)]
  const always = documents.filter(document => conditionsOf(document).every(condition => condition === undefined))
  const listed = (name: string) => {
    const given =
      fromEnv(name) ??
      always
        .map(document => textsAt(document, name))
        .findLast(isFilled)
        ?.join()
    return given === undefined ? [] : splitList(expand(given, fromEnv, () => {}))
  }
  const named = listed('spring.profiles.active')
  const profiles = new Set([...(named.length > 0 ? named : ['default']), ...listed('spring.profiles.include')])
  // A group may name another group: what is added while it runs is visited, too.
  for (const profile of profiles) for (const member of listed(`spring.profiles.group.${profile}`)) profiles.add(member)
  const active = documents.filter(document => isActive(document, profiles, env))
  return { active, profiles, lookUp: createLookUp(active, fromEnv), fromEnv }
}

/** Under which profiles a document counts, for people; undefined where it always does. */
export function profilesOf(document: Document): string | undefined {
  const [profiles, older] = conditionsOf(document)
  return (profiles ?? older)?.join(', ')
}

/** `spring.config.activate.on-profile`, its older form `spring.profiles`, and the cloud platform. */
function conditionsOf(document: Document): readonly (readonly string[] | undefined)[] {
  const older = findNode(document, ['spring', 'profiles'])
  return [
    textsAt(document, 'spring.config.activate.on-profile'),
    isMap(older) ? [] : textsOf(document, older),
    textsAt(document, 'spring.config.activate.on-cloud-platform'),
  ].map(texts => (isFilled(texts) ? splitList(texts.join()) : undefined))
}

function isActive(document: Document, profiles: ReadonlySet<string>, env: Environment): boolean {
  const [onProfile, older, platform] = conditionsOf(document)
  const expressions = onProfile ?? older
  if (expressions?.some(expression => holds(expression, profiles)) === false) return false
  return platform === undefined || platform.some(name => isOn(name, env))
}

/** As Spring tells where it runs. */
function isOn(platform: string, env: Environment): boolean {
  if (platform === 'kubernetes') return env.KUBERNETES_SERVICE_HOST !== undefined
  return platform === 'cloud-foundry' && (env.VCAP_APPLICATION ?? env.VCAP_SERVICES) !== undefined
}

function createLookUp(active: readonly Document[], fromEnv: LookUp): LookUp {
  const lookUp = (name: string, above: readonly string[]): string | undefined => {
    const given = fromEnv(name)
    if (given !== undefined || above.includes(name)) return given
    const [text] = active.map(document => textsAt(document, name)).findLast(isFilled) ?? []
    const missing: string[] = []
    const result =
      text &&
      expand(
        text,
        inner => lookUp(inner, [...above, name]),
        inner => missing.push(inner),
      )
    return missing.length === 0 ? result : undefined
  }
  return name => lookUp(name, [])
}

function textsAt(document: Document, name: string): readonly string[] {
  return textsOf(document, findNode(document, splitKey(name)))
}

function isFilled(texts: readonly string[]): boolean {
  return texts.length > 0
}

/** `spring.profiles.active` is SPRING_PROFILES_ACTIVE. */
function toVariable(name: string): string {
  return name
    .replaceAll('-', '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
}
