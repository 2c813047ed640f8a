import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { drive } from './load.ts'
import { inNewFolder } from './new-folder.ts'
import { osbHeaders, osbRequest } from './requests.ts'
import type { Round } from './result.ts'

/** A GET of a broker against bare node:http that sends the same bytes, in requests a second. */
export function compareAnswers(
  path: string,
  { port, connections, rounds }: { readonly port: number; readonly connections: number; readonly rounds: number },
): Promise<readonly Round[]> {
  return inNewFolder(async folder => {
    // Too long for an argument, where the catalog is.
    const file = join(folder, 'answer.json')
    await writeFile(file, JSON.stringify(await answerOrFailure(`http://127.0.0.1:${port}${path}`)))
    const bare = await startChild('bare.mjs', [file])
    try {
      const request = osbRequest('GET', path)
      const load = { connections, status: 200, ms: 2_000, request: () => request }
      const measured: Round[] = []
      for (let round = 0; round <= rounds; round++) {
        const baseline = (await drive({ ...load, port: bare.port })).perSecond
        const ours = (await drive({ ...load, port })).perSecond
        // The first round warms both up.
        if (round > 0) measured.push({ ours, baseline })
      }
      return measured
    } finally {
      await bare.stop()
    }
  })
}

async function answerOrFailure(url: string) {
  const answer = await fetch(url, { headers: osbHeaders })
  const body = await answer.text()
  const etag = answer.headers.get('etag')
  const headers = {
    'content-type': 'application/json',
    ...(etag === null ? {} : { etag }),
    'content-length': Buffer.byteLength(body),
  }
  return [answer.status, headers, body]
}
