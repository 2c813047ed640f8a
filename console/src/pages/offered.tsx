import type { ComponentChildren } from 'preact'
import { type Service, useCatalog } from '../catalog.ts'
import { Link } from '../router.tsx'
import { Empty, Loaded } from '../ui/basics.tsx'

/** What is offered now; where that is nothing, where services come from. */
export function Offered({ children }: { readonly children: (services: readonly Service[]) => ComponentChildren }) {
  return (
    <Loaded from={useCatalog()}>
      {({ services }) =>
        services.length > 0 ? (
          children(services)
        ) : (
          <section class="card">
            <Empty title="Nothing is offered">
              Services come from the broker’s code or from <Link to="upkeep">registries</Link>.
            </Empty>
          </section>
        )
      }
    </Loaded>
  )
}
