import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPodman, whyNoPodman } from '../test/external/podman.ts'
import { inNewFolder } from './new-folder.ts'
import { osbHeaders } from './requests.ts'
import { atMost, median, notMeasured, type Result, type Round, toResult } from './result.ts'
import { type Served, servePurser } from './served.ts'
import { registryEntry, serveSpecs } from './specs.ts'

/** What the action does. Real ones take longer: the ratio is worse here than it is for them. */
export const work = 'sleep 0.5'
const goal = atMost(1.3)

/** A whole provision of a bundle, from the request to its end in the ledger, against the same program run bare. */
export async function benchBundles(rounds: number): Promise<Result[]> {
  return [await benchProcesses(rounds), await benchContainers(rounds)]
}

function benchProcesses(rounds: number): Promise<Result> {
  return inNewFolder(async folder => {
    const bundle = join(folder, 'bundles', 'slow')
    const entrypoint = join(bundle, 'entrypoint.sh')
    await mkdir(bundle, { recursive: true })
    await writeFile(join(bundle, 'bundle.yml'), JSON.stringify(spec))
    await writeFile(entrypoint, `#!/bin/sh\n${work}\n`, { mode: 0o755 })
    const broker = await servePurser(folder, {
      registries: [{ name: 'bench', type: 'directory', path: 'bundles', white_list: ['.*'] }],
      bundles: { runtime: 'process' },
    })
    return compare(`provision by a process that does "${work}"`, broker, rounds, () => runProcess(entrypoint))
  })
}

async function benchContainers(rounds: number): Promise<Result> {
  const name = `provision by a container that does "${work}"`
  const reason = whyNoPodman()
  if (reason !== undefined) return notMeasured(name, reason)
  const podman = await startPodman()
  try {
    const image = await podman.image(work)
    const specs = await serveSpecs(Buffer.from(JSON.stringify([{ ...spec, image }])))
    try {
      return await inNewFolder(async folder => {
        const broker = await servePurser(folder, {
          registries: [registryEntry(specs.url)],
          bundles: { runtime: 'container', socket: podman.socket, pull: 'never' },
        })
        return compare(name, broker, rounds, () => podman.run(image))
      })
    } finally {
      await specs.stop()
    }
  } finally {
    await podman.stop()
  }
}

export async function compare(
  name: string,
  broker: Served,
  rounds: number,
  bare: () => Promise<void>,
): Promise<Result> {
  try {
    const body = await provisionBody(broker)
    const measured: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const baseline = await milliseconds(bare)
      const ours = await milliseconds(() => provision(broker, `bench-${round}`, body))
      // The first round warms both up.
      if (round > 0) measured.push({ ours, baseline })
    }
    const more = median(measured.map(({ ours, baseline }) => ours - baseline))
    return toResult(`${name}: ${more.toFixed(0)} ms more than it takes bare`, 'ms', measured, goal)
  } finally {
    await broker.stop()
  }
}

/** It is over when the broker's log says so: polling would take time of its own. */
export async function provision({ url, line }: Served, id: string, body: string): Promise<void> {
  const ended = line(text => text.includes(`"instanceId":"${id}"`) && /"operation (succeeded|failed)"/.test(text))
  const answer = await fetch(`${url}/v2/service_instances/${id}?accepts_incomplete=true`, {
    method: 'PUT',
    headers: { ...osbHeaders, 'content-type': 'application/json' },
    body,
  })
  if (answer.status !== 202) throw new Error(`the provision was answered ${answer.status}: ${await answer.text()}`)
  await answer.text()
  const last = await ended
  if (!last.includes('"operation succeeded"')) throw new Error(`the provision failed: ${last}`)
}

/** As soon as the registry has been asked for the first time. */
export async function provisionBody({ url }: Served): Promise<string> {
  for (;;) {
    const answer = await fetch(`${url}/v2/catalog`, { headers: osbHeaders })
    const [service] = answer.ok ? JSON.parse(await answer.text()).services : []
    if (service !== undefined)
      return JSON.stringify({
        service_id: service.id,
        plan_id: service.plans[0].id,
        organization_guid: 'org',
        space_guid: 'space',
        parameters: {},
      })
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function runProcess(file: string): Promise<void> {
  const [code] = await once(spawn(file, { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${file} ended with exit code ${code}`)
}

async function milliseconds(measured: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await measured()
  return performance.now() - started
}

export const spec = {
  version: '1.0',
  name: 'slow',
  description: 'What the benchmark provisions',
  bindable: false,
  async: 'optional',
  metadata: { displayName: 'Slow' },
  plans: [{ name: 'small', description: 'A small one', free: true, parameters: [] }],
}
