import { spawnSync } from 'node:child_process'
import { say } from './setup.mjs'

/** What the tests of bundles and of the model are made with: a program, and the packages of Debian that bring it. */
const programs = {
  spin: ['spin'],
  'docker-registry': ['docker-registry'],
  podman: ['podman', 'conmon', 'netavark', 'aardvark-dns', 'containernetworking-plugins', 'iptables'],
  runc: ['runc'],
  buildah: ['buildah'],
  busybox: ['busybox-static'],
  'redis-server': ['redis-server', 'redis-tools'],
  'ansible-playbook': ['ansible-core'],
  psql: ['postgresql-client'],
}

/**
 * Installs what is missing, where that can be done without asking anybody: on Debian, as root. Elsewhere, and where it fails,
 * the tests that need it say that they were left out, or fail where they were asked for by name.
 */
export function ensureDebianPackages() {
  const wanted = process.env.RUNTIMES?.includes('docker') ? { ...programs, dockerd: ['docker.io'] } : programs
  const missing = Object.entries(wanted).filter(([program]) => !has(program))
  if (missing.length === 0 || process.getuid?.() !== 0 || !has('apt-get')) return
  const packages = missing.flatMap(([, names]) => names)
  say(`installing ${packages.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) => spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  apt('update')
  const { status } = apt('install', '-y', '--no-install-recommends', ...packages)
  if (status !== 0) say('some of them could not be installed')
}

function has(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0
}
