import { demoPasswordFile, demoUser } from './demo-credentials.ts'

export interface WelcomeOptions {
  readonly url: string
  readonly store: string
  readonly users: readonly string[]
  readonly demo: boolean
  /** Whether the console is served. */
  readonly console: boolean
  /** How people call this command: `npx purser`, or `node bin/purser.js` in a clone. */
  readonly command: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What a person sees when the broker is up: where it is, and what to paste next. No password is printed. */
export function welcome(options: WelcomeOptions): string {
  const { url, store, users, demo } = options
  const lines = [
    '',
    `  Purser serves ${demo ? 'its demo catalog' : 'your broker'}`,
    '',
    `  API      ${url}/v2/catalog   (health: ${url}/readyz)`,
    ...(options.console ? [`  console  ${url}/console/`] : []),
    `  users    ${users.length === 0 ? 'none: everybody on this machine' : users.join(', ')}`,
    `  store    ${store}`,
    '',
    ...(demo ? demoSteps(options) : []),
  ]
  return `${lines.join('\n')}\n`
}

function demoSteps({ url, users, command, env }: WelcomeOptions): string[] {
  const own = users.includes(demoUser) && (env.PURSER_PASSWORD ?? '') === ''
  const password = own
    ? ` PURSER_PASSWORD="$(cat .purser/${demoPasswordFile})"`
    : '  # and the PURSER_PASSWORD of this broker'
  const user = users[0] ?? demoUser
  return [
    '  Try this in another terminal, in the same folder:',
    '',
    `    export PURSER_URL=${url} PURSER_USERNAME=${user}${password}`,
    `    ${command} catalog`,
    `    ${command} provision kv small --id my-store`,
    `    ${command} bind my-store --id my-key`,
    '',
    '  Use the credentials that it prints:',
    '',
    `    creds() { ${command} credentials my-store my-key --output json | node -pe "JSON.parse(require('fs').readFileSync(0)).credentials.$1"; }`,
    '    curl -u "$(creds username):$(creds password)" -X PUT -d hello "$(creds uri)/greeting"',
    '    curl -u "$(creds username):$(creds password)" "$(creds uri)/greeting"',
    '',
    `  Then a slow one; in the middle of it, kill -9 ${process.pid} and start the broker again:`,
    '',
    `    ${command} provision replicated-kv standard --id slow-store`,
    '',
  ]
}
