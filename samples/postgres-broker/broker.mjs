// A broker for one PostgreSQL server: an instance is a database, a binding is a role that can log in to it.
//
// This file is the service: what is offered, and what happens for each request. server.mjs talks to PostgreSQL.
import { randomBytes } from 'node:crypto'
import { defineBroker, defineService, TerminalError } from 'purser'
import {
  address,
  databaseUrl,
  dropRole,
  ifMissing,
  label,
  listDatabases,
  nameOf,
  query,
  quote,
  toScramVerifier,
} from './server.mjs'

const extensions = ['citext', 'hstore', 'btree_gist', 'pg_trgm', 'pgcrypto', 'uuid-ossp']
const plans = [
  plan({ name: 'small', connections: 5, allowed: ['citext', 'hstore'] }),
  plan({ name: 'large', connections: 50, allowed: extensions }),
]

const postgres = defineService({
  id: 'postgres',
  name: 'postgres',
  description: 'A PostgreSQL database',
  bindable: true,
  planUpdateable: true,
  plans,
  // Purser checks parameters against this schema before any code of ours runs. Each plan advertises a narrower one.
  parameters: schemaFor(extensions),

  async provision(ctx) {
    await checkExtensions(ctx)
    const name = nameOf(ctx.instance.id)
    // A step that has finished never runs again. One that was interrupted does, and then finds what it has made.
    await ctx.step('create owner', call => ifMissing(query(call, `CREATE ROLE ${name} NOLOGIN`)))
    // The database belongs to the superuser, so that no application can lift its limits. It is made from template0
    // because nobody is ever connected to that one.
    await ctx.step('create database', call => ifMissing(query(call, `CREATE DATABASE ${name} TEMPLATE template0`)))
    // Its name is a hash: without this, nobody could say which instance a database was made for.
    await ctx.step('label database', call => label(call, ctx.instance.id))
    await applyPlan(ctx)
  },

  async update(ctx) {
    await checkExtensions(ctx)
    await applyPlan(ctx)
  },

  async bind(ctx) {
    const database = nameOf(ctx.instance.id)
    const username = nameOf(ctx.instance.id, ctx.binding.id)
    // A step of its own: its output is kept in the ledger, so a retry of the next steps uses the same password.
    const password = await ctx.step('choose password', () => randomBytes(24).toString('base64url'))
    // What a binding creates belongs to the owner of the database. Other bindings can use it, and it stays.
    const createRole = `CREATE ROLE ${username} IN ROLE ${database}; ALTER ROLE ${username} SET role = ${database}`
    await ctx.step('create role', call => ifMissing(query(call, createRole)))
    const verifier = toScramVerifier(password)
    await ctx.step('allow login', call => query(call, `ALTER ROLE ${username} LOGIN PASSWORD '${verifier}'`))
    const uri = databaseUrl(database, { username, password })
    return { credentials: { uri, ...address, database, username, password } }
  },

  // Deletions must be safe to repeat, and must work where nothing, or only half of it, was made.
  async unbind(ctx) {
    await ctx.step('drop role', call => dropRole(call, ctx.instance.id, ctx.binding.id))
  },

  async deprovision(ctx) {
    const name = nameOf(ctx.instance.id)
    await ctx.step('drop database', call => query(call, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    await ctx.step('drop owner', call => dropRole(call, ctx.instance.id))
  },

  // What the server holds, for `purser orphans`: a database that no instance has is dropped by deprovision.
  list: listDatabases,
})

export default defineBroker({ services: [postgres] })

/** A plan's metadata is shown in the catalog; here the code reads its limits from there too. */
function plan({ name, connections, allowed }) {
  return {
    id: `pg-${name}`,
    name,
    description: `Up to ${connections} connections; extensions: ${allowed.join(', ')}`,
    bindingRotatable: true,
    metadata: { connections, allowed },
    schemas: { serviceInstance: { create: { parameters: schemaFor(allowed) } } },
  }
}

function schemaFor(allowed) {
  return {
    type: 'object',
    properties: { extensions: { type: 'array', items: { enum: allowed }, uniqueItems: true, default: [] } },
    additionalProperties: false,
  }
}

/** A TerminalError ends the operation at once: another attempt would find the same. Before the first step it is a 400. */
async function checkExtensions(ctx) {
  const onServer = await query(ctx, 'SELECT name FROM pg_available_extensions')
  const usable = onServer.map(row => row.name).filter(name => ctx.plan.metadata.allowed.includes(name))
  const missing = ctx.parameters.extensions.filter(name => !usable.includes(name))
  if (missing.length > 0) throw new TerminalError(`No such extension here: ${missing.join(', ')}.`, { status: 400 })
}

/** Gives the database what its plan and its parameters say. The same for a new database and for a changed one. */
async function applyPlan(ctx) {
  const name = nameOf(ctx.instance.id)
  const statements = [
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`,
    `GRANT CONNECT, TEMP ON DATABASE ${name} TO ${name}`,
    `GRANT ALL ON SCHEMA public TO ${name}`,
    `ALTER DATABASE ${name} CONNECTION LIMIT ${ctx.plan.metadata.connections}`,
    ...ctx.parameters.extensions.map(wanted => `CREATE EXTENSION IF NOT EXISTS ${quote(wanted)} SCHEMA public`),
  ]
  await ctx.step('apply plan', call => query(call, statements.join('; '), name))
}
