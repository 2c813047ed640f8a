// Run after `npm install` has changed package-lock.json: a registry mirror that lacks the builds of other platforms makes
// npm leave them out of the lock file, and then `npm ci` refuses it everywhere. This adds what the packages themselves name
// as their optional platform builds; npm installs those of its own platform only.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './setup.mjs'

const systems = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32', 'aix']
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

const file = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8'))
let added = 0
for (const [path, { optionalDependencies = {}, dev }] of Object.entries({ ...lock.packages })) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (lock.packages[`${path}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`]) continue
    const words = name.split(/[-/_.]/)
    const os = systems.filter(system => words.includes(system))
    const cpu = processors.filter(processor => words.includes(processor))
    if (os.length + cpu.length === 0) continue
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ''),
      ...(cpu.length === 0 ? {} : { cpu }),
      ...(dev === true ? { dev } : {}),
      ...(words.includes('musl') ? { libc: ['musl'] } : {}),
      optional: true,
      ...(os.length === 0 ? {} : { os }),
    }
    added++
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
say(`added ${added} platform builds to package-lock.json`)
