// Runs a TypeScript file with the Node at hand: node scripts/run-ts.mjs <script.ts> [arguments]
import { spawnSync } from 'node:child_process'

const { status, signal, error } = spawnSync(process.execPath, ['--import', 'tsx', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
if (error !== undefined) throw error
if (signal !== null) process.kill(process.pid, signal)
process.exitCode = status ?? 1
