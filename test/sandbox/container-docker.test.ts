import { dockerEngine } from '../external/engines.ts'
import { testContainers } from './container-cases.ts'

testContainers(dockerEngine)
