import { basename } from 'node:path'
import type { CliIo } from '../io.ts'
import { writeNewFiles } from '../new-files.ts'
import { toBundleName } from '../project.ts'

export async function initBundle(io: CliIo, folder: string): Promise<void> {
  const typed = await writeNewFiles(io, folder, 'bundle', realFolder => ({ name: toBundleName(basename(realFolder)) }))
  const where = typed === '' ? '' : ` ${typed}`
  const steps = [`lint${where || ' .'}`, `run provision${where}`, `run bind${where} --show-credentials`]
  io.stderr.write(`\nNext:\n${steps.map(step => `  purser bundle ${step}\n`).join('')}`)
}
