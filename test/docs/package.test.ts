import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
const manifest = readJson('package.json')

describe('package.json', () => {
  it('says where the project lives', () => {
    const home = 'https://github.com/purser-broker/purser'
    expect(manifest).toMatchObject({
      homepage: `${home}#readme`,
      repository: { type: 'git', url: `git+${home}.git` },
      bugs: { url: `${home}/issues` },
    })
  })

  it('ships no source maps: the sources that they would point to are not in the package', () => {
    expect(manifest.files).not.toContain('src')
    expect(readJson('tsconfig.build.json').compilerOptions.sourceMap).toBeUndefined()
  })

  it('names every module that does something when it is imported, so that bundlers may drop the others', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts') && !file.includes('.test'))
      .filter(file => statementsOf(readFileSync(join(root, 'src', file), 'utf8')).length > 0)
      .map(file => `./dist/${file.replace(/\.ts$/, '.js')}`)
    expect(['./bin/purser.js', ...sources]).toEqual(manifest.sideEffects)
  })
})

/** Lines at the beginning of which a statement stands that is not a declaration; template texts are left out. */
function statementsOf(source: string): string[] {
  const code = source.replace(/`(?:\\.|[^`\\])*`/g, '``')
  return code
    .split('\n')
    .filter(line => /^(?!import|export|function|async|const|let|class|interface|type|declare)[a-z]/.test(line))
}
