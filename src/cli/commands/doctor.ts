import { count } from '../../shape/count.ts'
import { failure } from '../cli-error.ts'
import { type CliCommand, collect } from '../command.ts'
import { isLive } from '../io.ts'
import { countStates, renderFindings, type ShownFinding } from '../render/findings.ts'
import { render } from '../render/output.ts'
import { showProgress } from '../show-progress.ts'

interface Flags {
  readonly config?: string
  readonly set?: readonly string[]
  readonly output: 'text' | 'json'
}

export function defineCommand(program: CliCommand): void {
  program
    .command('doctor')
    .description('look at everything that a broker needs: what was expected, what was found, and what to do')
    .option('--config <file>', 'settings (default: purser.yaml in the current folder, if it is there)')
    .option('--set <setting=value>', 'any setting by its name; may be given several times', collect)
    .outputOption()
    .explain(
      'Settings, store and its clock, sign-in, TLS, modes of files with secrets, registries and what runs bundles.',
      'Nothing is started or changed, and a broker may run meanwhile. The exit code is 1 if anything is wrong;',
      'warnings do not count.',
    )
    .examples('purser doctor', 'purser doctor --config purser.yaml --output json')
    .action(async ({ config: file, set, output }: Flags) => {
      const { io } = program
      const { examine } = await import('../../server/doctor/run.ts')
      const display = isLive(io) ? showProgress(io, 'check') : undefined
      const findings = await examine({ file, env: io.env, flags: { set }, cwd: io.cwd }).finally(() => display?.stop())
      const counts = countStates(findings)
      const sum = `${count(findings.length, 'check')}: ${counts.ok} ok, ${count(counts.warning, 'warning')}, ${counts.wrong} wrong.`
      // On a failure the document for --output json is the error's.
      if (counts.wrong === 0 || output === 'text')
        io.stdout.write(render({ ...counts, findings }, `${renderFindings(findings)}${sum}\n`, output))
      if (counts.wrong > 0) throw toFailure(findings, counts)
    })
}

function toFailure(findings: readonly ShownFinding[], counts: ReturnType<typeof countStates>) {
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ about }) => about)
  return failure(
    {
      what: counts.wrong === 1 ? 'one thing is wrong' : `${counts.wrong} things are wrong`,
      why: [...new Set(wrong)].join(', '),
      next: 'Do what stands behind "remedy", and run purser doctor again.',
    },
    { ...counts, findings },
  )
}
