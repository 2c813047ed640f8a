import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BuiltPackage } from '../cli/built-package.ts'
import { findFreePort } from '../cli/canned-broker.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A person at a shell: one folder, one shell whose variables and folder last, and a broker in another window. */
export interface Session {
  readonly home: string
  readonly url: string
  run(command: string): Promise<Ran>
  /** Starts a command in a folder and waits until it serves. */
  serve(command: string, folder?: string): Promise<void>
  end(): Promise<void>
}

export async function startSession(built: BuiltPackage): Promise<Session> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'purser-session-')))
  const tools = await realpath(await mkdtemp(join(tmpdir(), 'purser-tools-')))
  await writeScript(join(tools, 'purser'), `exec "${process.execPath}" "${built.bin}" "$@"`)
  await writeScript(join(tools, 'npx'), 'exec "$@"')
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const own = { PURSER_URL: url, PURSER_SERVER_PORT: String(port), NOTES_URL: url, PURSER_LOG_FORMAT: 'json' }
  const env = { PATH: `${tools}:${process.env.PATH}`, HOME: home, ...own }
  const shell = spawn('bash', { cwd: home, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const servers: ChildProcess[] = []
  let count = 0

  const run = async (command: string): Promise<Ran> => {
    count += 1
    const file = (name: string) => join(tools, `${name}-${count}`)
    const done = new Promise<void>(resolve => shell.stdout.once('data', () => resolve()))
    shell.stdin.write(
      `{ ${command}\n} >${file('out')} 2>${file('err')} </dev/null; echo $? >${file('code')}; echo done\n`,
    )
    await done
    const [out, err, code] = await Promise.all(['out', 'err', 'code'].map(name => readFile(file(name), 'utf8')))
    return { out: out ?? '', err: err ?? '', code: Number(code) }
  }

  return {
    home,
    url,
    run,
    async serve(command, folder = '.') {
      await run(`cd ${folder}`)
      const cwd = join(home, folder)
      await mkdir(join(cwd, 'node_modules'), { recursive: true })
      await symlink(built.folder, join(cwd, 'node_modules', 'purser'))
      // A process group of its own, so that what npm starts ends with npm.
      const server = spawn('bash', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
      servers.push(server)
      let log = ''
      for (const stream of [server.stdout, server.stderr])
        stream.on('data', chunk => {
          log += chunk
        })
      while (!(await isReady(url)))
        if (server.exitCode !== null) throw new Error(`"${command}" ended with ${server.exitCode}:\n${log}`)
    },
    async end() {
      for (const server of servers) await endGroup(server)
      shell.stdin.end()
      await new Promise(resolve => shell.once('close', resolve))
      await Promise.all([home, tools].map(folder => rm(folder, { recursive: true, force: true })))
    },
  }
}

async function writeScript(file: string, text: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${text}\n`)
  await chmod(file, 0o755)
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    await new Promise(resolve => setTimeout(resolve, 50))
    return false
  }
}

function endGroup(server: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    server.once('close', () => resolve())
    if (server.exitCode === null && server.pid !== undefined) process.kill(-server.pid, 'SIGTERM')
    else resolve()
  })
}
