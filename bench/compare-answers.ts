import { answerOf, startBare } from './bare.ts'
import { drive } from './load.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { osbRequest } from './requests.ts'
import type { Round } from './result.ts'

/** A GET of a broker against bare node:http that sends the same bytes, in requests a second. */
export function compareAnswers(
  path: string,
  { port, connections, rounds }: { readonly port: number; readonly connections: number; readonly rounds: number },
): Promise<readonly Round[]> {
  return inNewFolder(async folder => {
    const bare = await startBare(folder, { [path]: await answerOf(`http://127.0.0.1:${port}${path}`) })
    try {
      const request = osbRequest('GET', path)
      const load = { connections, status: 200, ms: 2_000, request: () => request }
      const measured: Round[] = []
      await onLoadCore(async () => {
        for (let round = 0; round <= rounds; round++) {
          const baseline = (await drive({ ...load, port: bare.port })).perSecond
          const ours = (await drive({ ...load, port })).perSecond
          // The first round warms both up.
          if (round > 0) measured.push({ ours, baseline })
        }
      })
      return measured
    } finally {
      await bare.stop()
    }
  })
}
