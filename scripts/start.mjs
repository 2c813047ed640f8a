// npm start: serves the demo broker. Options after `--` go to `purser serve`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root } from './setup.mjs'

ensureInstalled()
ensureBuilt()
const broker = spawn(process.execPath, [join(root, 'bin', 'purser.js'), 'serve', '--demo', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => broker.kill(signal))
broker.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))
