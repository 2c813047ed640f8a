// Everything that talks to the PostgreSQL server.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'

const admin = new URL(process.env.PGADMIN_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres')

/** Where applications find the server. */
export const address = { host: admin.hostname, port: Number(admin.port || 5432) }

export const quote = pg.escapeIdentifier

/** The administrator's URL, for another database and, if given, another login. */
export function databaseUrl(database, login = {}) {
  return Object.assign(new URL(admin), { pathname: database, ...login }).href
}

/**
 * The name of a database or a role. Platforms may send any text as an id; its hash is a plain name in SQL. The same ids give
 * the same name, so a retry finds what an earlier attempt has made, and a deletion needs no notes.
 */
export function nameOf(...ids) {
  return `osb_${createHash('sha256').update(JSON.stringify(ids)).digest('hex').slice(0, 32)}`
}

/**
 * Runs SQL and answers its rows. `call` is what Purser gives to a step: when Purser gives the step up, `call.signal` is
 * aborted and the connection is cut. What the server is still doing then ends after 10 seconds at most. Purser can count on
 * that: it does a deletion once more when no earlier call can have an effect any longer.
 */
export async function query(call, sql, database = admin.pathname) {
  call.signal.throwIfAborted()
  const client = new pg.Client({ connectionString: databaseUrl(database), statement_timeout: 10_000 })
  client.on('error', () => {})
  call.signal.addEventListener('abort', () => client.end())
  try {
    await client.connect()
    const { rows } = await client.query(sql)
    return rows
  } finally {
    await client.end()
  }
}

/** For a creation: if the role or the database exists, an earlier attempt has made it. */
export function ifMissing(creation) {
  const exists = ['42710', '42P04']
  return creation.catch(error => {
    if (!exists.includes(error.code)) throw error
  })
}

/** Notes at a database which instance it is for, and since when: PostgreSQL does not know when it was made. */
export function label(call, instanceId) {
  const comment = JSON.stringify({ instance: instanceId, since: new Date().toISOString() })
  return query(call, `COMMENT ON DATABASE ${nameOf(instanceId)} IS ${pg.escapeLiteral(comment)}`)
}

/** All databases that are called as ours are. One whose label does not fit its name is not ours to judge. */
export async function* listDatabases(call) {
  const found = await query(
    call,
    `SELECT datname AS name, shobj_description(oid, 'pg_database') AS comment FROM pg_database
     WHERE datname ~ '^osb_[0-9a-f]{32}$' ORDER BY datname`,
  )
  for (const { name, comment } of found) {
    const { instance, since } = readLabel(comment)
    if (instance !== undefined && nameOf(instance) === name) yield { name, instanceId: instance, createdAt: since }
    else yield { name, detail: 'It has no label of this broker.' }
  }
}

function readLabel(comment) {
  try {
    return JSON.parse(comment) ?? {}
  } catch {
    return {}
  }
}

/** Ends the sessions of a role, hands over what it owns to the owner of the database, and drops it. */
export async function dropRole(call, instanceId, ...bindingId) {
  const owner = nameOf(instanceId)
  const role = nameOf(instanceId, ...bindingId)
  const found = await query(call, `SELECT FROM pg_roles WHERE rolname = '${role}'`)
  if (found.length === 0) return
  await query(call, `ALTER ROLE ${role} NOLOGIN`)
  await query(call, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`)
  const databases = await query(
    call,
    `SELECT DISTINCT datname FROM pg_shdepend JOIN pg_database ON pg_database.oid = dbid
     WHERE refobjid = '${role}'::regrole`,
  )
  for (const { datname } of databases)
    await query(call, `REASSIGN OWNED BY ${role} TO ${owner}; DROP OWNED BY ${role}`, datname)
  await query(call, `DROP ROLE ${role}`)
}

/** What psql's \password sends instead of the password, so that the password cannot appear in the server's log. */
export function toScramVerifier(password) {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const sign = text => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64')
  const serverKey = sign('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
