/**
 * How the inputs of an action reach its pod. Usually each is a file of a Secret that is mounted: the node puts them there before
 * anything starts. What is too long for one Secret is packed into several, and unpacked by a container that runs before the
 * bundle, which takes the node a second or two.
 */
import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import { placesInside } from '../container/to-container.ts'
import { type InputFile, type Layout, varsFile } from '../inputs.ts'
import { pack } from './archive.ts'
import { packed } from './keeper.ts'

/** A Secret takes 1 MiB, and base64 makes a request a third longer. */
const mostBytes = 700_000
/** More than this no cluster takes in one Secret, and nobody needs. */
const mostParts = 20
/** Linux takes no longer argument. */
const longestArgument = 128 * 1024 - 1
const varsSecret = 'extra-vars'
const inputVolume = 'input'

export interface CarriedInputs {
  /** By their names, with their data as base64. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly volumes: readonly object[]
  /** For the bundle. */
  readonly mounts: readonly Mount[]
  /** For the container that unpacks them; absent where there is nothing to unpack. */
  readonly unpacking?: readonly Mount[]
  /** Where the variables are, for an entry point that takes them as JSON; absent for others, or where they are too long. */
  readonly vars?: { readonly name: string; readonly key: string } | undefined
}

export interface Mount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly: boolean
}

export function carryInputs(spec: SandboxSpec, layout: Layout): CarriedInputs {
  const bytes = layout.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return bytes <= mostBytes ? asFiles(spec, layout) : asArchive(spec, layout)
}

function asFiles(spec: SandboxSpec, { folders, files }: Layout): CarriedInputs {
  const name = partName(0)
  const keyOf = (index: number) => `file-${index}`
  const items = files.map(({ path, executable }, index) => ({
    key: keyOf(index),
    path,
    mode: executable ? 0o555 : 0o444,
  }))
  // A Secret has no empty folders: those are mounts of their own.
  const empty = folders.filter(folder => !files.some(({ path }) => path.startsWith(`${folder}/`)))
  const vars = jsonVars(spec, files)
  return {
    secrets: { [name]: Object.fromEntries(files.map(({ text }, index) => [keyOf(index), base64(text)])) },
    volumes: [
      { name: inputVolume, secret: { secretName: name, items } },
      ...(empty.length === 0 ? [] : [{ name: 'empty', emptyDir: {} }]),
    ],
    mounts: [
      { name: inputVolume, mountPath: placesInside.input, readOnly: true },
      ...empty.map(folder => ({ name: 'empty', mountPath: `${placesInside.input}/${folder}`, readOnly: true })),
    ],
    ...(vars === undefined ? {} : { vars: { name, key: keyOf(files.indexOf(vars)) } }),
  }
}

function asArchive(spec: SandboxSpec, layout: Layout): CarriedInputs {
  const archive = pack(layout)
  const parts: Buffer[] = []
  for (let at = 0; at < archive.length; at += mostBytes) parts.push(archive.subarray(at, at + mostBytes))
  if (parts.length > mostParts) throw new SandboxRefusedError('what its action is given is too long for a cluster')
  const named = parts.map((part, index) => [partName(index), { part: part.toString('base64') }] as const)
  const vars = jsonVars(spec, layout.files)
  const sources = named.map(([name]) => ({ secret: { name, items: [{ key: 'part', path: name }] } }))
  const input = { name: inputVolume, mountPath: placesInside.input }
  return {
    secrets: {
      ...Object.fromEntries(named),
      ...(vars === undefined ? {} : { [varsSecret]: { vars: base64(vars.text) } }),
    },
    volumes: [
      { name: 'packed', projected: { sources } },
      // In memory: it has secrets.
      { name: inputVolume, emptyDir: { medium: 'Memory' } },
    ],
    mounts: [{ ...input, readOnly: true }],
    unpacking: [
      { name: 'packed', mountPath: packed, readOnly: true },
      { ...input, readOnly: false },
    ],
    ...(vars === undefined ? {} : { vars: { name: varsSecret, key: 'vars' } }),
  }
}

/** In the order of their names, in which they are put together again. */
function partName(index: number): string {
  return `inputs-${String(index).padStart(2, '0')}`
}

function jsonVars({ program }: SandboxSpec, files: readonly InputFile[]): InputFile | undefined {
  const vars = files.find(({ path }) => path === varsFile)
  const readsJson = program.kind === 'image' && program.readsJson === true
  return readsJson && vars !== undefined && Buffer.byteLength(vars.text) <= longestArgument ? vars : undefined
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
