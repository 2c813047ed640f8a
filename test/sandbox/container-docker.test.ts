import { dockerEngine } from '../servers/engines.ts'
import { testContainers } from './container-cases.ts'

testContainers(dockerEngine)
