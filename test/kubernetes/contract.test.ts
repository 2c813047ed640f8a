import { beforeAll } from 'vitest'
import { whyNoNode } from '../external/kubernetes.ts'
import { makeNodeImage } from '../external/kubernetes-image.ts'
import { runSandboxContract } from '../sandbox/run-contract.ts'
import { createKubernetesSubject, toolsImage } from './subject.ts'

const reason = whyNoNode()

if (reason === undefined) beforeAll(() => makeNodeImage(toolsImage, { entrypoint: ['/bin/sh'] }))

// No network policy is enforced where nothing is there to do it.
runSandboxContract('kubernetes', createKubernetesSubject, { reason, isolates: false, concurrent: true })
