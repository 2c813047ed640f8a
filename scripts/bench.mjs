// npm run bench: ratios against bare baselines that are measured in the same run. `-- --json` prints JSON, `-- --only http`
// runs one part (http, growth, stores, observed, encrypted, overload, fairness, start, sync, catalog, bundles, kubernetes, postgres, growth-postgres). The last two start a
// PostgreSQL of their own (and compare it with DBOS, where BENCH_DBOS names a folder with it), and bundles starts a Podman where there is one.
// kubernetes needs a cluster: CONTRIBUTING.md says how to name one; `--at-once 50` has fewer pods at a time than 200.
import { ensureBuilt, ensureInstalled, run } from './setup.mjs'

ensureInstalled()
ensureBuilt()
run(process.execPath, ['--import', 'tsx', 'bench/main.ts', ...process.argv.slice(2)])
