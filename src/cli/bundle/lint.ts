import { checkBundle } from '../../bundle/check-bundle.ts'
import { formatMistake } from '../../bundle/mistakes.ts'
import { count } from '../../shape/count.ts'
import { explain, isError, type Mistake } from '../../shape/mistake.ts'
import { showPath } from '../../shape/place.ts'
import { failure } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { renderJson } from '../render/json.ts'
import { toLine } from '../render/printable.ts'
import type { SessionOptions } from '../session.ts'
import { readSpecFile } from './spec-file.ts'

export type LintOptions = Pick<SessionOptions, 'output'>

export async function lintBundles(io: CliIo, paths: readonly string[], { output }: LintOptions): Promise<void> {
  const bundles = []
  for (const path of paths) bundles.push(await lint(path, io.cwd))
  const broken = bundles.filter(({ ok }) => !ok)
  const result = { ok: broken.length === 0, bundles: bundles.map(toJson) }
  if (output === 'text') io.stdout.write(bundles.map(render).join(''))
  else if (result.ok) io.stdout.write(renderJson(result))
  if (result.ok) return
  const errors = broken.flatMap(({ problems }) => problems.filter(isError)).length
  const parts = {
    what: broken.length === 1 ? `${broken[0]?.path} cannot be used` : `${broken.length} bundles cannot be used`,
    why: `${count(errors, 'error')}, listed above`,
    next: 'Correct them and run it again.',
  }
  throw failure(parts, result)
}

type Linted = Awaited<ReturnType<typeof lint>>

async function lint(path: string, cwd: string) {
  const { shown, text, folder } = await readSpecFile(path, cwd)
  // The name of the registry makes no difference to the checks.
  const place = folder === undefined ? undefined : { path: folder, shown: path }
  const { problems } = await checkBundle(text, { where: shown, registry: 'local', folder: place })
  return { path, ok: !problems.some(isError), problems }
}

function toJson({ problems, ...linted }: Linted) {
  return { ...linted, problems: problems.map(toProblem) }
}

export function toProblem(problem: Mistake) {
  const { severity = 'error', path, place } = problem
  return { severity, where: place?.source, path: showPath(path), line: place?.line, problem: explain(problem) }
}

export function render({ path, problems }: Pick<Linted, 'path' | 'problems'>): string {
  const lines = problems.map(problem => `${toLine(formatMistake(problem))}\n`)
  const errors = problems.filter(isError).length
  const warnings = problems.length - errors
  const summary = [errors === 0 ? 'can be used' : count(errors, 'error')]
  if (warnings > 0) summary.push(count(warnings, 'warning'))
  return `${lines.join('')}${toLine(path)}: ${summary.join(', ')}\n`
}
