// Before packing: a build without leftovers of deleted sources.
import { ensureBuilt, ensureInstalled } from './setup.mjs'

ensureInstalled()
ensureBuilt()
