import { maskStoreUrl } from '../../settings/store-url.ts'
import { isObject, type Path, type Source, showPath, valueAt } from '../../shape/place.ts'
import { textsOf } from './texts.ts'

/**
 * The settings whose secrets stand in the file itself, by name: not those that a placeholder takes from the environment, and no
 * hashes, which are no password.
 */
export function findPlainSecrets({ root }: Source): readonly string[] {
  const secrets = textsOf(root, ['text']).filter(({ secret, path }) => secret && !isHash(path))
  const registries = valueAt(root, ['registries'])
  const passes = (Array.isArray(registries) ? registries : []).flatMap((registry, index) =>
    isObject(registry) ? [{ path: ['registries', index, 'pass'] as Path, text: registry.pass }] : [],
  )
  const store = valueAt(root, ['store'])
  const inStore =
    typeof store === 'string' && maskStoreUrl(store).includes('[hidden]@') ? [{ path: ['store'], text: store }] : []
  return [...secrets, ...passes, ...inStore].filter(({ text }) => isPlain(text)).map(({ path }) => showPath(path))
}

function isHash(path: Path): boolean {
  return /hash$/i.test(String(path.at(-1)))
}

function isPlain(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && !text.includes('${')
}
