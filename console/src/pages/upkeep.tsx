import { useState } from 'preact/hooks'
import { ApiError, post } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { ChoreBody, ChoresBody, RegistriesBody, RegistryBody, StartedRun } from '../api/types.ts'
import { toPath } from '../router.tsx'
import { may } from '../session.tsx'
import { Empty, Head, Loaded, Section, ShortId, Tone, WideTable } from '../ui/basics.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'

export function Upkeep() {
  const chores = useResource<ChoresBody>('admin/chores', { every: 2_000 })
  const registries = useResource<RegistriesBody>('admin/registries', { every: 3_000 })
  const again = () => {
    chores.reload()
    registries.reload()
  }
  return (
    <>
      <Head
        title="Chores and registries"
        about="Periodic upkeep, which one replica at a time does, and where bundles come from."
      >
        {chores.data?.chores?.some(({ name }) => name === 'sync') === true && (
          <Run path="admin/registries/sync" words="Sync now" primary done={again} />
        )}
      </Head>
      <Section title="Registries">
        <Loaded from={registries}>
          {({ registries: all = [] }) =>
            all.length === 0 ? (
              <Empty title="No registry is configured">
                Name one under registries in the configuration, and bundles of it are offered.
              </Empty>
            ) : (
              <ul class="lines">
                {all.map(registry => (
                  <RegistryLine key={registry.name} registry={registry} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <Services registries={registries.data} />
      <Section title="Chores">
        <Loaded from={chores}>
          {({ chores: all = [] }) => (
            <ul class="lines">
              {all
                .filter(({ pattern }) => pattern !== undefined)
                .map(chore => (
                  <ChoreLine key={chore.name} chore={chore} done={again} />
                ))}
              <li>
                <details class="what">
                  <summary>{all.filter(({ pattern }) => pattern === undefined).length} are off</summary>
                  <ul class="lines">
                    {all
                      .filter(({ pattern }) => pattern === undefined)
                      .map(chore => (
                        <ChoreLine key={chore.name} chore={chore} done={again} />
                      ))}
                  </ul>
                </details>
              </li>
            </ul>
          )}
        </Loaded>
      </Section>
    </>
  )
}

interface RunProps {
  readonly path: string
  readonly words: string
  readonly primary?: boolean
  done(): void
}

function Run({ path, words, primary = false, done }: RunProps) {
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await post<StartedRun>(path)
      toast('It runs.')
    } catch (error) {
      toast(error instanceof ApiError ? error.message : String(error), 'bad')
    } finally {
      setBusy(false)
      done()
    }
  }
  const why = may('operator') ? undefined : 'This needs the role operator.'
  return (
    <button
      type="button"
      class={primary ? 'primary' : undefined}
      disabled={busy || why !== undefined}
      title={why}
      onClick={() => void run()}
    >
      {words}
    </button>
  )
}

export function registryTrouble({
  silent_since,
  failures = 0,
  last_problem,
  vanished = [],
}: RegistryBody): string | undefined {
  if (silent_since !== undefined || failures > 0) return last_problem ?? 'It does not answer.'
  if (vanished.length > 0) return `${vanished.length} images that instances need are gone from it.`
  return undefined
}

function RegistryLine({ registry }: { readonly registry: RegistryBody }) {
  const trouble = registryTrouble(registry)
  const { name, type, last_answer_at, next_at, problems = [], warnings = [], partial } = registry
  return (
    <li>
      <span class="what">
        <p>
          <strong>{name}</strong> <span class="muted">{type ?? 'not configured any more'}</span>
        </p>
        {trouble !== undefined && <p class="problem">{trouble}</p>}
        <p class="small muted">
          answered <Time at={last_answer_at} />
          {next_at !== undefined && (
            <>
              , asked again <Time at={next_at} />
            </>
          )}
        </p>
        {problems.length + warnings.length > 0 && (
          <details class="small">
            <summary>
              {problems.length} not usable, {warnings.length} with a warning
            </summary>
            <ul>
              {[...problems, ...warnings].slice(0, 100).map(text => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </details>
        )}
      </span>
      {trouble !== undefined ? (
        <Tone tone="bad">trouble</Tone>
      ) : last_answer_at === undefined ? (
        <Tone tone="calm">not asked yet</Tone>
      ) : partial ? (
        <Tone tone="warn">answers in part</Tone>
      ) : (
        <Tone tone="good">answers</Tone>
      )}
    </li>
  )
}

function Services({ registries }: { readonly registries: RegistriesBody | undefined }) {
  const services = registries?.services ?? []
  if (services.length === 0) return null
  return (
    <Section title="What came from them">
      <div class="body">
        <WideTable label="Services of registries" columns={['Service', 'Registry', 'Revision', 'Version', 'Instances']}>
          {services.map(({ id, name, registry, revision, bundle_version, retired_at, instances }) => (
            <tr key={id}>
              <td>
                <strong>{name}</strong> {retired_at !== undefined && <Tone tone="warn">retired</Tone>}
              </td>
              <td>{registry}</td>
              <td>
                <ShortId id={revision} />
              </td>
              <td>{bundle_version ?? <span class="muted">–</span>}</td>
              <td>
                {instances
                  .map(({ revision: of, count }) => `${count} on ${of === revision ? 'this one' : of.slice(0, 8)}`)
                  .join(', ') || 'none'}
              </td>
            </tr>
          ))}
        </WideTable>
      </div>
    </Section>
  )
}

export function choreTrouble({ pattern, ok, late, message }: ChoreBody): string | undefined {
  if (pattern === undefined) return undefined
  if (ok === false) return message ?? 'Its latest run failed.'
  return late
    ? 'It is late: no replica has taken it for three periods. See that one runs, and read its log.'
    : undefined
}

function ChoreLine({ chore, done }: { readonly chore: ChoreBody; done(): void }) {
  const { name, pattern, running, late, finished_at, next_at, ok, message } = chore
  return (
    <li>
      <span class="what">
        <p>
          <strong>{name}</strong>{' '}
          {pattern === undefined ? <span class="muted">off</span> : <code class="muted">{pattern}</code>}
        </p>
        <p class={`small ${ok === false ? 'problem' : 'muted'}`}>
          {finished_at === undefined ? 'has not run yet' : message}
          {finished_at !== undefined && (
            <>
              {' '}
              (<Time at={finished_at} />)
            </>
          )}
          {next_at !== undefined && (
            <>
              , next <Time at={next_at} />
            </>
          )}
        </p>
      </span>
      {running ? (
        <Tone tone="busy">running</Tone>
      ) : ok === false ? (
        <Tone tone="bad">failed</Tone>
      ) : (
        late && <Tone tone="warn">late</Tone>
      )}
      <Run path={toPath('admin', 'chores', name, 'runs')} words="Run" done={done} />
    </li>
  )
}
