import type { Check, Finding } from './finding.ts'

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** Who may sign in, and as what. */
export const checkAccess: Check = async ({ config }) => {
  const { auth, server } = config
  const { host, tls, publicUrl } = server
  if (auth.basic.length === 0) return [judgeOpen(host)]
  const may = (...roles: readonly string[]) => auth.basic.filter(user => user.roles.some(role => roles.includes(role)))
  const operators = may('operator', 'admin')
  const platforms = may('platform')
  const isPlain = !loopback.has(host) && tls === undefined && !publicUrl?.startsWith('https:')
  return [
    judgeUsers('platform sign-in', "somebody has the role platform, for the platform's requests", platforms),
    judgeUsers(
      'admin sign-in',
      'somebody has the role operator or admin, for the console and purser operations',
      operators,
    ),
    ...(isPlain ? [plain] : []),
  ]
}

/** Names of users are no secrets, but neither of use here: how many is enough. */
function judgeUsers(about: string, expected: string, users: readonly object[]): Finding {
  if (users.length > 0) return { state: 'ok', about, expected, found: `${users.length} of auth.basic` }
  const remedy = 'Give a user of auth.basic the role: roles: [platform, admin].'
  return { state: 'warning', about, expected, found: 'nobody has it', remedy }
}

function judgeOpen(host: string): Finding {
  const about = 'sign-in'
  const expected = 'users in auth.basic, or in PURSER_USERNAME and PURSER_PASSWORD'
  const remedy = 'Add auth.basic with hashes of purser hash-password, or set PURSER_USERNAME and PURSER_PASSWORD.'
  if (!loopback.has(host))
    return {
      state: 'wrong',
      about,
      expected,
      found: `nobody, and it would listen on ${host}: it does not start`,
      remedy,
    }
  return { state: 'warning', about, expected, found: 'nobody: whoever is on this machine may do everything', remedy }
}

const plain: Finding = {
  state: 'warning',
  about: 'encryption',
  expected: 'TLS where other machines reach the broker',
  found: 'neither server.tls nor an https address in server.publicUrl',
  remedy: 'Set server.tls; or, where a proxy before it has TLS, its address in server.publicUrl.',
}
