import { type Connection, loadLibrary, types } from '../../src/store/postgres/driver.ts'

/** A connection beside the store's own, to look and to act behind its back. `options` are settings of the server. */
export async function connect(url: string, options = ''): Promise<Connection> {
  const { Client } = await loadLibrary()
  const connection = new Client({
    connectionString: url,
    application_name: 'test',
    options,
    connectionTimeoutMillis: 60_000,
    keepAlive: false,
    types,
  })
  connection.on('error', () => {})
  await connection.connect()
  return connection
}
