import { posix } from 'node:path'
import { type NamedSecret, type SandboxInputs, SandboxRefusedError } from '../sandbox.ts'
import { escapeSpaces } from '../sensitive/redact.ts'

/** Where a sandbox sees its folders. */
export interface Places {
  readonly input: string
  readonly output: string
  /** Both may be written to, and go with the sandbox. */
  readonly home: string
  readonly temporary: string
}

export interface InputFile {
  /** Relative to the input folder. */
  readonly path: string
  readonly text: string
  readonly executable: boolean
}

export interface Layout {
  /** Relative to the input folder. Parents come before their children. */
  readonly folders: readonly string[]
  readonly files: readonly InputFile[]
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** Where the variables of `--extra-vars` are. */
  readonly varsFile: string
}

/** Of `--extra-vars`, in the input folder. */
export const varsFile = 'extra-vars.json'
const stateFolder = 'state'
const bindingStateFolder = 'binding-state'
const helpersFolder = 'helpers'
export const secretsFolder = 'secrets'
/** Linux takes no longer argument than 128 KiB, and all of them share a few MiB with the variables. */
const longestArgument = 32 * 1024
const roles = ['/etc/ansible/roles', '/opt/ansible/roles', '/usr/share/ansible/roles']

/** The files, variables and arguments that give an action its inputs. Secrets are in files only. */
export function layOut(inputs: SandboxInputs, { input, output, home, temporary }: Places): Layout {
  const { action, extraVars, state, bindingState, helpers } = inputs
  checkNames(inputs)
  const named = { ...toVariables('state_', state), ...toVariables('binding_state_', bindingState ?? {}) }
  const vars = escapeSpaces(JSON.stringify({ ...extraVars, ...named, _apb_state: state }))
  const varsAt = `${input}/${varsFile}`
  const isOpen = inputs.open === true && Buffer.byteLength(vars) <= longestArgument
  const secrets = secretFiles(inputs.secrets ?? [])
  const helpersAt = `${input}/${helpersFolder}`
  return {
    folders: [
      stateFolder,
      ...(bindingState === undefined ? [] : [bindingStateFolder]),
      ...parentsOf(
        Object.keys(helpers).map(path => `${helpersFolder}/${path}`),
        helpersFolder,
      ),
      ...parentsOf(Object.keys(secrets).map(path => `${secretsFolder}/${path}`)),
    ],
    files: [
      toFile('input.json', JSON.stringify(inputs.input)),
      toFile(varsFile, vars),
      ...toFiles(stateFolder, state),
      ...toFiles(bindingStateFolder, bindingState ?? {}),
      ...toFiles(helpersFolder, helpers),
      ...toFiles(secretsFolder, secrets),
    ],
    env: {
      HOME: home,
      TMPDIR: temporary,
      ...(Object.keys(helpers).some(path => path.startsWith('ansible/'))
        ? ansibleOf(`${helpersAt}/ansible`, temporary)
        : {}),
      ...inputs.env,
      BUNDLE_INPUT: `${input}/input.json`,
      BUNDLE_STATE: `${input}/${stateFolder}`,
      BUNDLE_STATE_LOCATION: `${input}/${stateFolder}`,
      ...(bindingState === undefined ? {} : { BUNDLE_BINDING_STATE: `${input}/${bindingStateFolder}` }),
      BUNDLE_HELPERS: helpersAt,
      BUNDLE_OUTPUT: output,
    },
    args: [action, '--extra-vars', isOpen ? vars : `@${varsAt}`],
    varsFile: varsAt,
  }
}

/** Whether a key of the state can be a file's name, and a key of a ConfigMap. */
export function isStateKey(key: string): boolean {
  return /^[A-Za-z0-9._-]{1,253}$/.test(key) && !/^\.\.?$/.test(key)
}

function checkNames({ state, bindingState, helpers }: SandboxInputs): void {
  const key = Object.keys({ ...state, ...bindingState }).find(each => !isStateKey(each))
  if (key !== undefined)
    throw new SandboxRefusedError(
      `the state's key ${JSON.stringify(key.slice(0, 100))} cannot name a file: use letters, digits, dots, dashes and underscores`,
    )
  const path = Object.keys(helpers).find(each => !each.split('/').every(isStateKey))
  if (path !== undefined)
    throw new SandboxRefusedError(
      `the helper ${JSON.stringify(path.slice(0, 100))} cannot be a file below $BUNDLE_HELPERS: use a relative path of letters, digits, dots, dashes and underscores`,
    )
}

function toFiles(folder: string, texts: Readonly<Record<string, string>>): InputFile[] {
  return Object.entries(texts).map(([path, text]) => toFile(`${folder}/${path}`, text))
}

function toFile(path: string, text: string): InputFile {
  return { path, text, executable: path.startsWith(`${helpersFolder}/bin/`) }
}

/** The folders that the files are in, and those around them; `always` is there in any case. */
function parentsOf(files: readonly string[], ...always: readonly string[]): string[] {
  const found = new Set(always)
  for (const file of files)
    for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) found.add(folder)
  return [...found].sort((a, b) => a.length - b.length)
}

/** As Kubernetes mounts a Secret: bundles read `<key>`, or, like `apb-base`, `..data/<key>`. Others' names cannot be files. */
function secretFiles(secrets: readonly NamedSecret[]): Readonly<Record<string, string>> {
  const files = secrets.flatMap(({ name, entries }) =>
    Object.entries(entries)
      .filter(([key]) => isStateKey(key) && isStateKey(name))
      .flatMap(([key, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        return ['', '..data/'].map(folder => [`apb-${name}/${folder}${key}`, text])
      }),
  )
  return Object.fromEntries(files)
}

function toVariables(prefix: string, state: Readonly<Record<string, string>>): Record<string, string> {
  const nameable = Object.entries(state).filter(([key]) => /^\w+$/.test(key))
  return Object.fromEntries(nameable.map(([key, value]) => [`${prefix}${key}`, value]))
}

function ansibleOf(folder: string, temporary: string): Record<string, string> {
  return {
    // Ansible looks for a home in /etc/passwd, not in HOME, and the user's entry there may name none.
    ANSIBLE_REMOTE_TMP: `${temporary}/ansible`,
    ANSIBLE_ROLES_PATH: [`${folder}/roles`, ...roles].join(':'),
    ANSIBLE_LIBRARY: `${folder}/library`,
    ANSIBLE_LOOKUP_PLUGINS: `${folder}/lookup_plugins`,
  }
}
