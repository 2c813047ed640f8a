#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(main)) {
  const { run } = await import(main.href)
  await run()
} else {
  console.error('purser has not been built: run npm run build first')
  process.exitCode = 1
}
