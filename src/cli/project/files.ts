import { brokerModule } from './broker-module.ts'
import { renderPackageJson } from './package-json.ts'
import { gitIgnore, purserYaml, renderReadme } from './texts.ts'

export interface ProjectFile {
  readonly path: string
  readonly text: string
}

/** Everything `purser init` writes. `purser` is the version or the path of the dependency. */
export function projectFiles(name: string, purser: string): readonly ProjectFile[] {
  return [
    { path: 'package.json', text: renderPackageJson(name, purser) },
    { path: 'broker.mjs', text: brokerModule },
    { path: 'purser.yaml', text: purserYaml },
    { path: 'README.md', text: renderReadme(name) },
    { path: '.gitignore', text: gitIgnore },
  ]
}
