import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadCatalogFile } from './load-yaml.ts'

const catalog = `services:
- id: s
  name: service
  description: A service
  bindable: true
  plans: [{ id: p, name: plan, description: A plan }]
`

describe('loadCatalogFile', () => {
  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'purser-catalog-'))
    onTestFinished(() => rm(path, { recursive: true }))
    return path
  }

  it.each(['.', 'static', 'public', 'resources'])('finds images in %s', async place => {
    const path = await folder()
    await mkdir(join(path, place), { recursive: true })
    await writeFile(join(path, place, 'logo.gif'), 'GIF')
    await writeFile(
      join(path, 'application.yaml'),
      `${catalog}  metadata: { image-url-resource: 'classpath:/logo.gif' }\n`,
    )
    const {
      offerings: [offering],
    } = await loadCatalogFile(join(path, 'application.yaml'), {})
    expect(offering?.metadata).toEqual({ imageUrl: 'data:image/gif;base64,R0lG' })
  })

  it('says which file cannot be read, or which image is missing', async () => {
    const path = await folder()
    const file = join(path, 'catalog.yaml')
    await expect(loadCatalogFile(file, {})).rejects.toThrow(
      `${file}: it cannot be read (ENOENT); check the path and its permissions`,
    )
    await writeFile(file, `${catalog}  metadata: { image-url-resource: none.png }\n`)
    await expect(loadCatalogFile(file, {})).rejects.toThrow(
      `${file}:7:15 (service "service"): the image "none.png" does not exist`,
    )
    await mkdir(join(path, 'none.png'))
    await expect(loadCatalogFile(file, {})).rejects.toThrow('cannot be read (EISDIR)')
  })
})
