import { dockerEngine } from '../external/engines.ts'
import { testApbImages } from './apb-cases.ts'

await testApbImages(dockerEngine)
