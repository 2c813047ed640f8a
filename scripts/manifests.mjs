// npm run manifests: writes deploy/kubernetes/purser.yaml, which is the Helm chart with its own defaults.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findHelm, render } from './helm.mjs'
import { fail, root } from './setup.mjs'

const helm = findHelm()
if (helm === undefined) fail('there is no helm here: install Helm 3')
const head = `# Purser with PostgreSQL and bundles in pods: the Helm chart of deploy/helm/purser with its own defaults.
# Written by "npm run manifests". docs/guides/deploying.md says what to change.
apiVersion: v1
kind: Namespace
metadata:
  name: purser
`
const text = render(helm, join(root, 'deploy', 'helm', 'purser')).replaceAll('managed-by: Helm', 'managed-by: kubectl')
writeFileSync(join(root, 'deploy', 'kubernetes', 'purser.yaml'), head + text)
