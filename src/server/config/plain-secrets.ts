import { relaxed } from '../../shape/describe.ts'
import { isObject, type Path, type Source, showPath, valueAt } from '../../shape/place.ts'
import { expand, type LookUp } from '../../shape/placeholders.ts'
import { textsOf } from './texts.ts'

/**
 * The settings whose secrets stand in the file itself, by name: not what a placeholder takes from the environment, and no hashes,
 * which are no password. `inFile` is what the file itself says for a placeholder, and empty where the environment has it.
 */
export function findPlainSecrets({ root }: Source, inFile: LookUp): readonly string[] {
  const secrets = textsOf(root, ['text']).filter(({ secret, path }) => secret && !isHash(path))
  const registries = valueAt(root, ['registries'])
  const credentials = (Array.isArray(registries) ? registries : []).flatMap(credentialsOf)
  const left = (text: string) => expand(text, inFile, () => {})
  const found = [...secrets, ...credentials].filter(({ text }) => left(text) !== '').map(({ path }) => showPath(path))
  const store = valueAt(root, ['store'])
  return typeof store === 'string' && hasPassword(left(store)) ? [...found, 'store'] : found
}

interface SecretText {
  readonly path: Path
  readonly text: string
}

function isHash(path: Path): boolean {
  return /hash$/i.test(String(path.at(-1)))
}

/** Registries are read elsewhere, later: keys in any spelling, numbers as texts. */
function credentialsOf(registry: unknown, index: number): readonly SecretText[] {
  return Object.entries(isObject(registry) ? registry : {})
    .filter(([key]) => ['pass', 'token'].includes(relaxed(key)))
    .map(([key, value]) => ({ path: ['registries', index, key], text: String(value ?? '') }))
}

/** Whatever stands before the last @: a password may hold one, too. */
function hasPassword(url: string): boolean {
  return /^[a-z+]+:\/\/[^:@/]*:.+@/is.test(url)
}
