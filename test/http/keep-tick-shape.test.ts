import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const file = new URL('../../src/http/node/keep-tick-shape.ts', import.meta.url).href

/** Prints how many objects of `process.nextTick` a process holds after everything else was collected. */
const countKept = (before: string) => `
  import { getHeapSnapshot } from 'node:v8'
  import { setImmediate as turn } from 'node:timers/promises'
  ${before}
  for (let i = 0; i < 3; i++) { await turn(); gc() }
  let text = ''
  for await (const part of getHeapSnapshot()) text += part
  const { snapshot: { meta }, nodes, edges, strings } = JSON.parse(text)
  const [nodeSize, edgeSize] = [meta.node_fields.length, meta.edge_fields.length]
  const [count, name] = [meta.node_fields.indexOf('edge_count'), meta.edge_fields.indexOf('name_or_index')]
  let edge = 0
  let kept = 0
  for (let node = 0; node < nodes.length; node += nodeSize) {
    const names = []
    for (let i = 0; i < nodes[node + count]; i++, edge += edgeSize)
      if (meta.edge_types[0][edges[edge]] === 'property') names.push(strings[edges[edge + name]])
    if (names.includes('callback') && names.includes('args')) kept++
  }
  console.log(kept)
`

it.each([
  ['nothing else keeps one', '', '0'],
  [
    'one is kept, however often it is asked for',
    `const { keepTickShape } = await import(${JSON.stringify(file)})
     for (let i = 0; i < 3; i++) { keepTickShape(); await turn() }`,
    '1',
  ],
])('the objects of process.nextTick: %s', async (_, before, kept) => {
  const args = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', countKept(before)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout.trim()).toBe(kept)
})
