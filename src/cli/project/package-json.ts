/** The new project's package.json. */
export function renderPackageJson(name: string, purser: string): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: { start: 'purser serve' },
    dependencies: { purser },
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

/** A name that npm takes, made from the folder's. */
export function toPackageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-._]+|[-._]+$/g, '')
  return name === '' || name === 'purser' || name === 'node_modules' ? 'my-broker' : name.slice(0, 200)
}
