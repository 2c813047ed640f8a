import { resolve } from 'node:path'
import type { Fields, Reading } from '../bundle/reading.ts'
import type { Item } from '../bundle/source.ts'
import { isJsonObject } from '../protocol/json.ts'
import { quoted } from '../shape/place.ts'
import type { Credentials, RegistryAuth, RegistryType, TagChoice } from './settings.ts'

/** `tag: latest`, or `tag: { default, named }`. */
export function readTag(item: Item | undefined, reading: Reading): TagChoice {
  const check = (at: Item, what: string) => {
    const tag = reading.text(at, what)
    if (tag === undefined || /^\w[\w.-]{0,127}$/.test(tag)) return tag
    return reading.error(at, `${what} is not a tag; use letters, digits, "_", "." and "-", 128 at most`)
  }
  if (item === undefined || item.value === '') return { default: usualTag, named: {} }
  if (!isJsonObject(item.value)) return { default: check(item, '"tag"') ?? usualTag, named: {} }
  const fields = reading.object(item, '"tag"', ['default', 'named'])
  const usual = fields?.get('default')
  const named = fields?.get('named')
  if (named !== undefined) reading.json(named, '"named"')
  return {
    default: (usual === undefined ? undefined : check(usual, '"default"')) ?? usualTag,
    named: Object.fromEntries(
      (named === undefined ? [] : reading.members(named)).flatMap(([image, tag]) => {
        const text = check(tag, `the tag of ${quoted(image)}`)
        return text === undefined ? [] : [[image, text]]
      }),
    ),
  }
}

const usualTag = 'latest'

export function readUrl(item: Item | undefined, type: RegistryType, reading: Reading): string | undefined {
  if (item === undefined || item.value === '') return type === 'quay' ? 'https://quay.io' : undefined
  const text = reading.text(item, '"url"')
  if (text === undefined) return undefined
  const bare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  const full = bare ? `http://${text}` : text
  if (!URL.canParse(full) || !['http:', 'https:'].includes(new URL(full).protocol))
    return reading.error(item, '"url" is not a URL; write it as https://host/path')
  const url = new URL(full)
  // Not even the message shows it: there is a password in it.
  if (url.username !== '' || url.password !== '')
    return reading.error(item, '"url" has a user in it; write user and pass in their own keys')
  if (bare)
    reading.warn(item, `"url" has no scheme and is taken as ${quoted(`http://${url.host}`)}; write https:// or http://`)
  return full
}

/** Inline where `auth_type` is empty or `config`; a file or a secret is only named here. */
export function readAuth(item: Item, fields: Fields, reading: Reading, folder: string): RegistryAuth {
  const text = (key: string) => {
    const found = fields.get(key)
    return found?.value === '' ? undefined : reading.text(found, quoted(key))
  }
  const type = text('authType') ?? ''
  const name = text('authName')
  const inline = readInline(text)
  switch (type) {
    case '':
      return inline === undefined ? { kind: 'none' } : { kind: 'inline', ...inline }
    case 'config':
      if (inline !== undefined) return { kind: 'inline', ...inline }
      reading.error(item, 'auth_type is config, and there are no credentials; add user and pass, or token')
      return { kind: 'none' }
    case 'file':
    case 'secret':
      if (name === undefined) {
        reading.error(item, `auth_type is ${type}, and auth_name does not say which one; add it`)
        return { kind: 'none' }
      }
      return type === 'file' ? { kind: 'file', path: resolve(folder, name) } : { kind: 'secret', name }
    default:
      reading.error(fields.get('authType') ?? item, 'auth_type must be config, file or secret, or be left out')
      return { kind: 'none' }
  }
}

function readInline(text: (key: string) => string | undefined): Credentials | undefined {
  const [username, password, token] = [text('user'), text('pass'), text('token')]
  const pair = username === undefined || password === undefined ? {} : { username, password }
  const credentials = { ...pair, ...(token === undefined ? {} : { token }) }
  return Object.keys(credentials).length === 0 ? undefined : credentials
}
