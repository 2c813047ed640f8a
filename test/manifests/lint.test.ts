import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { formatMistake } from '../../src/bundle/mistakes.ts'
import { bundlesShape } from '../../src/settings/config.ts'
import { fromCode } from '../../src/shape/place.ts'
import { read } from '../../src/shape/read.ts'
import { blocksOf } from '../docs/pages.ts'

const check = (source: string) => checkBundle(source, { where: 'bundle.yml', registry: 'local' })

const head = `version: "1.0"
name: x
description: x
plans: [{ name: a, description: a }]
`

describe('a spec with manifests', () => {
  it('is told all its mistakes at once, each with its line', async () => {
    const { bundle, problems } = await check(`${head}manifests:
  namespace: \${context.
  provision:
    - name: one
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${1 +}" } }
      ready_when: object.status ==
    - name: two
      object: { apiVersion: v1, kind: "\${parameters.kind}" }
    - name: two
      read: { apiVersion: v1, kind: Secret }
      shared: x
    - name: not-a-word
      object: {}
    - name: three
      when: nobody.x
  state: { a: "\${objects.four.x}" }
  generate: { password: 2 }
`)
    expect(bundle).toBeUndefined()
    expect(problems.map(formatMistake)).toMatchInlineSnapshot(`
      [
        "bundle.yml:12: manifests.provision[1].object: error: "kind" must be a text without expressions: what is allowed goes by it; write it",
        "bundle.yml:13: manifests.provision[2]: error: there is a second object "two"; rename one of them",
        "bundle.yml:15: manifests.provision[2].shared: error: what is only read cannot be shared; take "shared" out",
        "bundle.yml:16: manifests.provision[3].name: error: the name of an object must be a word that expressions can use, not "not-a-word"; use letters, digits and "_", beginning with a letter",
        "bundle.yml:18: manifests.provision[4]: error: "three" needs one of object, patch, read; write what is made, changed or read",
        "bundle.yml:21: manifests.generate.password: error: the length of a generated text must be a whole number from 8 to 256, not 2",
      ]
    `)
  })

  it('is told all mistakes of its expressions at once', async () => {
    const { bundle, problems } = await check(`${head}manifests:
  namespace: \${context.
  provision:
    - name: one
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${1 +}" } }
      ready_when: object.status ==
    - name: two
      when: nobody.x
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${objects.three.x}" } }
  bind:
    - name: one
      object: { apiVersion: v1, kind: Secret, metadata: { name: "\${objects.two.x}" } }
  state: { a: "\${objects.four.x}" }
`)
    expect(bundle).toBeUndefined()
    expect(problems.map(formatMistake)).toMatchInlineSnapshot(`
      [
        "bundle.yml:9: manifests.provision[0].object.metadata.name: error: Unexpected token: EOF",
        "bundle.yml:10: manifests.provision[0].ready_when: error: Unexpected token: EOF",
        "bundle.yml:12: manifests.provision[1].when: error: Unknown variable: nobody",
        "bundle.yml:11: manifests.provision[1]: error: it reads the object "three", which is not made or read before it; correct the name, or the order",
        "bundle.yml:15: manifests.bind[0]: error: the provision has an object "one" too; rename one of them",
        "bundle.yml:6: manifests.namespace: error: an expression begins with \${ and does not end; close it with }",
        "bundle.yml:17: manifests.state: error: it reads the object "four", which is not made or read before it; correct the name, or the order",
      ]
    `)
  })

  it('needs no program in its folder', async () => {
    const text = readFileSync('templates/manifests/bundle.yml', 'utf8').replaceAll('{{name}}', 'greeter')
    const folder = { path: 'templates/manifests', shown: 'x', isRun: true }
    const check = (source: string) => checkBundle(source, { where: 'bundle.yml', registry: 'local', folder })
    const { problems, bundle } = await check(text)
    expect(problems).toEqual([])
    expect(bundle?.spec.manifests?.provision).toHaveLength(1)
    const mistaken = await check(text.replace('manifests:', 'manifests:\n  observe_every: never'))
    expect(mistaken.problems.map(({ path }) => path[0])).toEqual(['manifests'])
  })
})

const page = 'docs/reference/manifests.md'

describe(page, () => {
  const blocks = blocksOf(page).filter(({ language }) => language === 'yaml')

  it('has an example without a mistake, and a configuration', async () => {
    const [example, config] = blocks.map(({ text }) => text)
    expect((await check(example ?? '')).problems).toEqual([])
    const { bundles } = parse(config ?? '')
    expect(read(bundlesShape, fromCode(bundles)).mistakes).toEqual([])
  })
})
