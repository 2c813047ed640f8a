/** A real Kubernetes for tests: the cluster of KUBECONFIG, or an API server that is started from KUBEBUILDER_ASSETS. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { sleep, systemClock } from '../../src/clock.ts'
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts'
import { freePort } from './free-port.ts'
import { whyNotRuntime } from './wanted-runtime.ts'

/**
 * Why there is no cluster with a node here; undefined where there is one: KUBECONFIG names it, and KUBERNETES_LOAD_IMAGE is a
 * command that gives its nodes an image, whose archive (docker-archive) is added to it as the last argument.
 */
export function whyNoNode(): string | undefined {
  return whyNotRuntime('kubernetes', () => {
    if (!process.env.KUBECONFIG) return 'no cluster: set KUBECONFIG to the kubeconfig of one that tests may use'
    if (!process.env.KUBERNETES_LOAD_IMAGE)
      return 'no way to give the cluster an image: set KUBERNETES_LOAD_IMAGE, such as "kind load image-archive"'
    return undefined
  })
}

/** The same for an API server alone, which runs no pods: KUBEBUILDER_ASSETS is a folder with etcd and kube-apiserver. */
export function whyNoApiServer(): string | undefined {
  return whyNotRuntime('kubernetes', () => {
    const folder = process.env.KUBEBUILDER_ASSETS
    return folder !== undefined && ['etcd', 'kube-apiserver'].every(name => existsSync(join(folder, name)))
      ? undefined
      : 'no API server: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, such as setup-envtest downloads'
  })
}

/** The cluster of KUBECONFIG. `tryFor` is how long a call is tried. */
export function connectNode(): Promise<Cluster> {
  return connectCluster({}, { clock: systemClock, env: process.env })
}

/** Gives the nodes of the cluster an image from an archive. */
export async function loadImage(archive: string): Promise<void> {
  const [program = '', ...args] = (process.env.KUBERNETES_LOAD_IMAGE ?? '').split(' ')
  await promisify(execFile)(program, [...args, archive])
}

export interface ApiServer {
  readonly url: string
  /** A file. It says who we are by a token, which may do everything. */
  readonly kubeconfig: string
  connect(tryFor?: number): Promise<Cluster>
  /** SIGSTOP: it takes connections and answers nothing. */
  freeze(): void
  thaw(): void
  /** Ends the server and starts it anew, on the same port and the same data. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

/** etcd and kube-apiserver, with nothing that would run a pod or finish the deletion of a namespace. */
export async function startApiServer(): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-kubernetes-'))
  const [port, client, peer] = [await freePort(), await freePort(), await freePort()]
  const url = `https://127.0.0.1:${port}`
  const token = randomUUID()
  mkdirSync(join(folder, 'certificates'))
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(join(folder, 'accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const etcd = start(folder, 'etcd', [
    ...['--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', `http://127.0.0.1:${client}`, '--advertise-client-urls', `http://127.0.0.1:${client}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', `default=http://127.0.0.1:${peer}`],
  ])
  const startServer = () =>
    start(folder, 'kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${client}`,
      ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${port}`],
      ...['--endpoint-reconciler-type=none', '--service-cluster-ip-range=10.96.0.0/24', '--authorization-mode=RBAC'],
      ...[`--cert-dir=${join(folder, 'certificates')}`, `--token-auth-file=${join(folder, 'tokens.csv')}`],
      `--service-account-key-file=${join(folder, 'accounts.pub')}`,
      `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      // Its controllers are not here, which would make the account that every pod waits for.
      '--disable-admission-plugins=ServiceAccount',
    ])
  let server = startServer()
  const kubeconfig = join(folder, 'kubeconfig')
  const certificate = join(folder, 'certificates', 'apiserver.crt')
  const connect = (tryFor?: number) =>
    connectCluster({ kubeconfig }, { clock: systemClock, env: {}, ...(tryFor === undefined ? {} : { tryFor }) })

  async function untilReady(): Promise<void> {
    while (!existsSync(certificate)) await running(server, 'kube-apiserver', folder)
    writeFileSync(kubeconfig, toKubeconfig(url, certificate, token), { mode: 0o600 })
    const cluster = await connect(1)
    for (;;) {
      // It answers before it has made the rights that everybody has, without which an account cannot even ask what there is.
      const ready = await cluster.stream('/readyz', { patience: 10_000 }).catch(() => undefined)
      ready?.destroy()
      const namespace = ready && (await cluster.find('/api/v1/namespaces/default').catch(() => undefined))
      if (namespace !== undefined) return
      await running(server, 'kube-apiserver', folder)
    }
  }

  await untilReady()
  return {
    url,
    kubeconfig,
    connect,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    kill: () => end(server),
    async restart() {
      server = startServer()
      await untilReady()
    },
    async stop() {
      await Promise.all([end(server), end(etcd)])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function start(folder: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${program}.log`), 'a')
  return spawn(join(process.env.KUBEBUILDER_ASSETS ?? '', program), args, { stdio: ['ignore', log, log] })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function running(child: ChildProcess, program: string, folder: string): Promise<void> {
  if (child.exitCode !== null)
    throw new Error(`${program} ended: ${readFileSync(join(folder, `${program}.log`), 'utf8').slice(-2_000)}`)
  await sleep(systemClock, 100)
}

function toKubeconfig(server: string, certificate: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': certificate } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  })
}
