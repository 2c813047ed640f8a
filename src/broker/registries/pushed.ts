import { decodeSpec } from '../../bundle/encoded-spec.ts'
import { formatMistake } from '../../bundle/mistakes.ts'
import { readSource } from '../../bundle/source.ts'
import { parseBundleSpec } from '../../bundle/spec.ts'
import type { RegistryAnswer, RegistryReply } from '../../domain/registry-reply.ts'
import type { FoundBundle } from '../../domain/revision.ts'
import type { StoredCatalog } from '../../marketplace.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Offering } from '../../protocol/offering.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { isError } from '../../shape/mistake.ts'
import { valueAt } from '../../shape/place.ts'
import type { BrokerContext } from '../context.ts'
import { createAnswerWriter, type SyncParts } from './sync.ts'

/** What `apb push` sends is offered under this name, as the Automation Broker does. */
export const pushedRegistry = 'apb-push'

/**
 * Specs that authors push to the broker itself. The ledger alone has them: a sync asks nobody for them and leaves them as they
 * are. All else is as with what a registry offers: they are checked, pinned, and kept while an instance needs them.
 */
export function createPushed(broker: BrokerContext, parts: SyncParts) {
  // That the last one is gone is said by whoever removed it, and is believed at once.
  const settings = { ...parts.settings, emptyAfter: 1 }

  async function change(
    next: (pushed: readonly PushedSpec[]) => readonly FoundBundle[],
    check?: (reply: RegistryReply) => void,
  ): Promise<void> {
    const write = createAnswerWriter(broker, { ...parts, settings }, broker.stopping)
    const answerFor = (stored: StoredCatalog): RegistryAnswer => ({
      kind: 'complete',
      found: next(pushedIn(stored)),
      problems: [],
    })
    await write(pushedRegistry, answerFor, { check })
    await parts.registered.refresh()
  }

  return {
    /** Offers the spec, in base64, in the place of one of the same name. */
    async push(encoded: string): Promise<Offering> {
      const bundle = readPushed(encoded)
      let offering: Offering | undefined
      await change(
        pushed => [...pushed.filter(({ name }) => name !== bundle.name), bundle],
        reply => {
          offering = offeringOf(reply, bundle.name)
        },
      )
      // `check` has run: nothing is written without it.
      return offering as Offering
    },
    /** Takes one of them out of the catalog, or all. Instances keep what they need. */
    remove(serviceId?: string): Promise<void> {
      return change(pushed => {
        if (serviceId !== undefined && !pushed.some(spec => spec.serviceId === serviceId))
          throw new BrokerError('NotFound', `No spec with the id "${serviceId}" was pushed to this broker.`)
        return pushed.filter(spec => serviceId !== undefined && spec.serviceId !== serviceId)
      })
    },
  }
}

type PushedSpec = FoundBundle & { readonly serviceId: string }

function pushedIn({ services, revisions }: StoredCatalog): readonly PushedSpec[] {
  const current = services.filter(({ registry, retiredAt }) => registry === pushedRegistry && retiredAt === undefined)
  const ids = new Set(current.map(({ revisionId }) => revisionId))
  return revisions
    .filter(({ id }) => ids.has(id))
    .map(({ foundAs: name, image, tag, digest, source, runtime, serviceId }) => {
      return { name, image, tag, digest, source, runtime, serviceId }
    })
}

/** A name of an image: never a path, which would be a folder of this machine. */
const imageName = /^[a-z0-9][\w.:@/-]*$/i

function readPushed(encoded: string): FoundBundle {
  const decoded = decodeSpec(encoded)
  if ('not' in decoded) throw malformed(`apbSpec is not ${decoded.not}`)
  const { source } = decoded
  const { spec, problems } = parseBundleSpec(source, 'apbSpec')
  const read = readSource(source)
  if (spec === undefined || !read.ok) throw unusable(problems.filter(isError).map(formatMistake))
  // As the original: a spec without "image" is run as the image of its name.
  const image = valueAt(read.source.root, ['image']) ?? spec.name
  if (typeof image !== 'string' || !imageName.test(image))
    throw malformed('the "image" of the spec, or else its name, has to be the name of an image')
  return { name: spec.name, image, tag: '', digest: '', source, runtime: 2 }
}

function offeringOf(reply: RegistryReply, name: string): Offering {
  const seen = reply.kind === 'failed' ? undefined : reply.found.find(bundle => bundle.name === name)
  if (seen?.parsed === undefined) throw unusable(seen?.problems ?? [])
  return seen.parsed.offering
}

function unusable(problems: readonly string[]): BrokerError {
  return malformed(`the spec cannot be used: ${problems.join('; ')}`)
}

export type Pushed = ReturnType<typeof createPushed>
