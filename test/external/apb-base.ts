/**
 * The base image that most bundles of the Automation Broker are built on, made again of what this machine has: Ansible and
 * ansible-runner with all that they need, and an entry point that reads its arguments as the original does.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { whyNot } from './wanted.ts'

/** Why it cannot be made here; undefined where it can. */
export function whyNoApbBase(): Promise<string | undefined> {
  return whyNot(
    'apb-base',
    async () => {
      try {
        execFileSync('dpkg', ['-s', ...packages], { stdio: 'ignore' })
      } catch {
        throw new Error(`install the Debian packages ${packages.join(', ')}`)
      }
    },
    'BUNDLES',
  )
}

/** An image built on the base: its archive, and what its Dockerfile says besides. `remove` deletes the archive. */
export interface ApbImage {
  readonly archive: string
  readonly changes: readonly string[]
  remove(): void
}

/** `files` are the bundle's own, by their absolute path. */
export function buildApbImage(source: string, files: Readonly<Record<string, string>>): ApbImage {
  const folder = mkdtempSync(join(tmpdir(), 'purser-apb-'))
  const archive = join(folder, 'image.tar')
  writeFileSync(join(folder, 'system'), systemFiles().join('\n'))
  execFileSync('tar', ['-cf', archive, '-C', '/', '--no-recursion', '--files-from', join(folder, 'system')])
  const tree = join(folder, 'tree')
  mkdirSync(tree)
  execFileSync('tar', ['-xf', archive, '-C', tree])
  for (const path of folders) mkdirSync(join(tree, path), { recursive: true })
  const all = { ...baseFiles, ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(tree, dirname(path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  copyFileSync(join(import.meta.dirname, 'apb-base', 'entrypoint.sh'), join(tree, 'usr/bin/entrypoint.sh'))
  chmodSync(join(tree, 'usr/bin/entrypoint.sh'), 0o755)
  for (const path of ['tmp', 'var/tmp']) chmodSync(join(tree, path), 0o1777)
  // As on OpenShift: the group of root may do all that the owner may.
  execFileSync('chmod', ['-R', 'g=u,o=rX', join(tree, 'opt'), join(tree, 'etc')])
  execFileSync('tar', ['-cf', archive, '-C', tree, '--owner=0', '--group=0', '.'])
  const changes = [
    'ENV HOME=/opt/apb',
    'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'WORKDIR /opt/apb',
    'ENTRYPOINT ["entrypoint.sh"]',
    'LABEL com.redhat.apb.runtime=2',
    `LABEL com.redhat.apb.spec=${Buffer.from(source).toString('base64')}`,
  ]
  return { archive, changes, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const packages = ['ansible-core', 'python3-ansible-runner', 'bash', 'coreutils', 'libc-bin']
const folders = [
  'tmp',
  'var/tmp',
  'run',
  'proc',
  'dev',
  'usr/bin',
  'opt/apb/env',
  'opt/apb/.ansible/tmp',
  'etc/apb-secrets',
]
const baseFiles = {
  '/etc/passwd': 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  '/etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  '/opt/apb/inventory/hosts': 'localhost ansible_connection=local\n',
  '/opt/apb/env/settings': '---\nidle_timeout: 0\njob_timeout: 0\n',
}

/** The files of the packages and of all that they depend on, each by its real path, and the links of a merged /usr. */
function systemFiles(): readonly string[] {
  const field = (name: string) => `\${${name}}`
  const listed = execFileSync(
    'dpkg-query',
    ['-W', '-f', `${field('Package')}\t${field('Provides')}\t${field('Pre-Depends')}, ${field('Depends')}\n`],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  )
  const needs = new Map<string, readonly string[][]>()
  const providers = new Map<string, string>()
  const nameOf = (text: string) => /^[^\s:(]*/.exec(text.trim())?.[0] ?? ''
  for (const line of listed.split('\n')) {
    const [name = '', provides = '', depends = ''] = line.split('\t')
    needs.set(
      name,
      depends.split(',').map(each => each.split('|').map(nameOf)),
    )
    for (const each of [name, ...provides.split(',').map(nameOf)]) if (each !== '') providers.set(each, name)
  }
  const found = new Set(packages)
  for (const name of found)
    for (const choices of needs.get(name) ?? []) {
      const installed = choices.map(choice => (needs.has(choice) ? choice : providers.get(choice))).find(Boolean)
      if (installed !== undefined) found.add(installed)
    }
  const files = execFileSync('dpkg', ['-L', ...found], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\n')
  const paths = new Set(['bin', 'lib', 'lib64', 'sbin', 'usr/bin/sh', 'usr/bin/dash'])
  for (const file of files)
    if (
      file.startsWith('/') &&
      !/^\/(usr\/share\/(doc|man|locale|info|ieee-data)|usr\/lib\/python3\/dist-packages\/ansible_collections|etc|dev|proc|run|tmp|var)(\/|$)/.test(
        file,
      )
    )
      try {
        paths.add(join(realpathSync(dirname(file)), basename(file)).slice(1))
      } catch {
        // A package may list what was diverted.
      }
  return [...paths].filter(path => path !== '' && path !== '.')
}
