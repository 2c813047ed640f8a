import { useResource } from '../api/resource.ts'
import { Link, toPath } from '../router.tsx'
import { Empty, Head, Loaded, Section, ShortId, Tone, WideTable } from '../ui/basics.tsx'
import { relative } from '../ui/time.tsx'
import { Offered } from './offered.tsx'

interface Revisions {
  readonly at: string
  readonly items: readonly RevisionsOf[]
}

interface RevisionsOf {
  readonly service_id: string
  readonly name: string
  readonly revisions: readonly {
    readonly id: string
    readonly bundle_version?: string
    readonly position: string
    readonly instances: number
  }[]
}

export function CatalogPage() {
  return (
    <>
      <Head title="Catalog" about="What is offered now, and which revisions instances are pinned to." />
      <Offered>
        {services =>
          services.map(({ id, name, description, bindable, plans, plan_updateable }) => (
            <Section
              key={id}
              title={name}
              aside={
                <span class="actions">
                  <Link to={`instances?service_id=${encodeURIComponent(id)}`} class="small">
                    Instances
                  </Link>
                  <Link to={toPath('try', id)} class="small">
                    Try it
                  </Link>
                </span>
              }
            >
              <div class="body stack">
                <p class="muted">
                  {description}. <code class="id">{id}</code>
                  {bindable ? '' : ' Not bindable.'}
                  {plan_updateable ? ' The plan can be changed.' : ''}
                </p>
                <WideTable label={`Plans of ${name}`} columns={['Plan', 'Id', 'Description', 'Version', 'Parameters']}>
                  {plans.map(plan => (
                    <tr key={plan.id}>
                      <td>
                        <strong>{plan.name}</strong>
                      </td>
                      <td>
                        <code class="id">{plan.id}</code>
                      </td>
                      <td>
                        {plan.description}
                        {plan.free === false ? ' (costs money)' : ''}
                      </td>
                      <td>{plan.maintenance_info?.version ?? <span class="muted">–</span>}</td>
                      <td>{parametersOf(plan.schemas?.service_instance?.create?.parameters)}</td>
                    </tr>
                  ))}
                </WideTable>
              </div>
            </Section>
          ))
        }
      </Offered>
      <RevisionList />
    </>
  )
}

function parametersOf(schema: Readonly<Record<string, unknown>> | undefined): string {
  const names = Object.keys(Object(schema?.properties))
  return names.length === 0 ? '–' : names.join(', ')
}

function RevisionList() {
  const revisions = useResource<Revisions>('admin/revisions', { every: 10_000 })
  return (
    <Section
      title="Revisions"
      aside={revisions.data && <span class="small muted">counted {relative(Date.parse(revisions.data.at))}</span>}
    >
      <Loaded from={revisions}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No service comes from a registry">
              What is in the broker’s code has no revisions: you deploy another.
            </Empty>
          ) : (
            <div class="body">
              <WideTable
                label="Revisions and their instances"
                columns={['Service', 'Revision', 'Position', 'Instances']}
              >
                {items.flatMap(({ name, revisions: all }) =>
                  all.map(({ id, bundle_version, position, instances }) => (
                    <tr key={id}>
                      <td>{name}</td>
                      <td>
                        <ShortId id={id} /> {bundle_version}
                      </td>
                      <td>
                        <Tone tone={position === 'current' ? 'good' : 'warn'}>{position}</Tone>
                      </td>
                      <td>
                        <Link to={`instances?revision_id=${encodeURIComponent(id)}`}>{instances.toLocaleString()}</Link>
                      </td>
                    </tr>
                  )),
                )}
              </WideTable>
            </div>
          )
        }
      </Loaded>
    </Section>
  )
}
