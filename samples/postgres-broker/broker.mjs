// Databases on one PostgreSQL server: an instance is a database, a binding is a role that can log in to it.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { defineBroker, defineService, TerminalError } from 'purser'

const admin = new URL(process.env.PGADMIN_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres')
const urlOf = (database, login = {}) => Object.assign(new URL(admin), { pathname: database, ...login }).href
/** Ids can be any text. Their hash is a plain name in SQL, and a clean-up finds it again without any state. */
const nameOf = (...ids) => `osb_${createHash('sha256').update(JSON.stringify(ids)).digest('hex').slice(0, 32)}`
/** A role or database that exists was made by an earlier attempt. */
const unlessThere = error => (['42710', '42P04'].includes(error.code) ? undefined : Promise.reject(error))
const extensions = ['citext', 'hstore', 'btree_gist', 'pg_trgm', 'pgcrypto', 'uuid-ossp']
const listOf = allowed => ({ type: 'array', items: { enum: allowed }, uniqueItems: true, default: [] })
const schemaOf = list => ({ type: 'object', properties: { extensions: listOf(list) }, additionalProperties: false })
const planOf = (name, connections, allowed) => {
  const description = `Up to ${connections} connections; extensions: ${allowed.join(', ')}`
  const schemas = { serviceInstance: { create: { parameters: schemaOf(allowed) } } }
  return { id: `pg-${name}`, name, description, bindingRotatable: true, metadata: { connections, allowed }, schemas }
}

const postgres = defineService({
  id: 'postgres',
  name: 'postgres',
  description: 'A PostgreSQL database',
  bindable: true,
  planUpdateable: true,
  plans: [planOf('small', 5, extensions.slice(0, 2)), planOf('large', 50, extensions)],
  parameters: schemaOf(extensions),
  provision: shape,
  update: shape,
  async bind(ctx) {
    const [database, username] = [nameOf(ctx.instance.id), nameOf(ctx.instance.id, ctx.binding.id)]
    const password = await ctx.step('choose password', () => randomBytes(24).toString('base64url'))
    // What a binding makes belongs to the owner of the database, so that other bindings can use it and it stays.
    const create = `CREATE ROLE ${username} IN ROLE ${database}; ALTER ROLE ${username} SET role = ${database}`
    await ctx.step('create role', call => run(call, create).catch(unlessThere))
    await ctx.step('let it in', call => run(call, `ALTER ROLE ${username} LOGIN PASSWORD '${verifierOf(password)}'`))
    const server = { host: admin.hostname, port: Number(admin.port || 5432), database }
    return { credentials: { uri: urlOf(database, { username, password }), ...server, username, password } }
  },
  unbind: ctx => ctx.step('drop role', call => dropRole(call, ctx.instance.id, ctx.binding.id)),
  async deprovision(ctx) {
    await ctx.step('drop', call => run(call, `DROP DATABASE IF EXISTS ${nameOf(ctx.instance.id)} WITH (FORCE)`))
    await ctx.step('drop owner', call => dropRole(call, ctx.instance.id))
  },
})

export default defineBroker({ services: [postgres] })

/** Provision and update: the database that the plan and the parameters ask for. */
async function shape(ctx) {
  const [name, wanted, limits] = [nameOf(ctx.instance.id), ctx.parameters.extensions, ctx.plan.metadata]
  const available = (await run(ctx, 'SELECT name FROM pg_available_extensions')).map(row => row.name)
  const missing = wanted.filter(extension => ![available, limits.allowed].every(list => list.includes(extension)))
  if (missing.length > 0) throw new TerminalError(`No such extension here: ${missing.join(', ')}.`, { status: 400 })
  if (ctx.action === 'provision') {
    await ctx.step('create owner', call => run(call, `CREATE ROLE ${name} NOLOGIN`).catch(unlessThere))
    // It belongs to the superuser: nobody else lifts its limits. Nobody is ever connected to template0.
    await ctx.step('create', call => run(call, `CREATE DATABASE ${name} TEMPLATE template0`).catch(unlessThere))
  }
  const access = `REVOKE ALL ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT, TEMP ON DATABASE ${name} TO ${name}`
  const limit = `GRANT ALL ON SCHEMA public TO ${name}; ALTER DATABASE ${name} CONNECTION LIMIT ${limits.connections}`
  const add = wanted.map(extension => `CREATE EXTENSION IF NOT EXISTS ${pg.escapeIdentifier(extension)} SCHEMA public`)
  await ctx.step('apply plan', call => run(call, [access, limit, ...add].join('; '), name))
}

/** Ends the role's sessions, clears every database in which it has left something, and drops it. */
async function dropRole(call, ...ids) {
  const [role, owner] = [nameOf(...ids), nameOf(ids[0])]
  if ((await run(call, `SELECT FROM pg_roles WHERE rolname = '${role}'`)).length === 0) return
  await run(call, `ALTER ROLE ${role} NOLOGIN`)
  await run(call, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`)
  const used = `pg_shdepend JOIN pg_database ON pg_database.oid = dbid WHERE refobjid = '${role}'::regrole`
  for (const { datname } of await run(call, `SELECT DISTINCT datname FROM ${used}`))
    await run(call, `REASSIGN OWNED BY ${role} TO ${owner}; DROP OWNED BY ${role}`, datname)
  await run(call, `DROP ROLE ${role}`)
}

/** When the call is given up its connection is cut, and what the server is still doing ends within 10 seconds. */
async function run({ signal }, sql, database = admin.pathname) {
  signal.throwIfAborted()
  const db = new pg.Client({ connectionString: urlOf(database), statement_timeout: 10_000 }).on('error', () => {})
  signal.addEventListener('abort', () => db.end())
  try {
    return (await db.connect().then(() => db.query(sql))).rows
  } finally {
    await db.end()
  }
}

/** As psql's \password does it: the server, and so its logs, never get the password itself. */
function verifierOf(password) {
  const salt = randomBytes(16)
  const key = pbkdf2Sync(password, salt, 4096, 32, 'sha256')
  const sign = text => createHmac('sha256', key).update(text).digest()
  const stored = createHash('sha256').update(sign('Client Key')).digest('base64')
  return `SCRAM-SHA-256$4096:${salt.toString('base64')}$${stored}:${sign('Server Key').toString('base64')}`
}
