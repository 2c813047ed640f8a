/** The new project's settings, with what is most often changed in comments. */
export const purserYaml = `# Settings of this broker. Flags and PURSER_... variables go over them.
broker: broker.mjs

server:
  host: 127.0.0.1 # another address than this machine's own needs credentials below
  port: 8080
  # publicUrl: https://broker.example.com
  # tls: { cert: server.crt, key: server.key }

# Where instances, bindings and operations are kept. memory: forgets them with the process.
store: sqlite:purser.db

# Who may call. "npx purser hash-password" makes the hash. PURSER_USERNAME and PURSER_PASSWORD make one more user.
# auth:
#   basic:
#     - username: platform
#       passwordHash: scrypt$...

# osb:
#   cascadeDelete: false # true: removing an instance removes its bindings first
# engine:
#   timeouts: { provision: 1h, deprovision: 24h }
# log:
#   format: people # or json
`

export const gitIgnore = `node_modules/
data/
.purser/
purser.db*
*.log
`

export function renderReadme(name: string): string {
  return `# ${name}

An Open Service Broker, made with Purser. It offers \`notes\`, a small key-value store: see \`broker.mjs\`.

\`\`\`sh
npm install
npm start
\`\`\`

In another terminal, act as a platform:

\`\`\`sh
npx purser catalog
npx purser provision notes small --id my-notes --param maxLength=200
npx purser bind my-notes --id my-app
curl -X PUT -H "Authorization: Bearer <token>" -d 'buy milk' <url>/shopping
curl -H "Authorization: Bearer <token>" <url>/shopping
npx purser unbind my-notes my-app
npx purser deprovision my-notes
\`\`\`

\`purser.yaml\` holds the settings. Before the broker listens on another address than this machine's own, give it
credentials there: \`npx purser hash-password\` makes the hash of a password.
`
}
