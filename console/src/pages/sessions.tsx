import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { usePages } from '../api/resource.ts'
import type { SessionBody } from '../api/types.ts'
import { toPath } from '../router.tsx'
import { may } from '../session.tsx'
import { Empty, Head } from '../ui/basics.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'

export function Sessions() {
  return (
    <>
      <Head title="Sessions" about="Who is signed in to this console. An ended session has to sign in again." />
      {may('admin') ? (
        <List />
      ) : (
        <section class="card">
          <Empty title="Only admins see this">It tells who works here, and from where.</Empty>
        </section>
      )}
    </>
  )
}

function List() {
  const pages = usePages<SessionBody>('admin/sessions?limit=200', { every: 5_000 })
  const [asked, setAsked] = useState<Asked | undefined>()
  const end = (about: string, path: string): Asked => ({
    title: `End ${about}`,
    about: <p>The next request of that browser is refused, and its page asks for a password.</p>,
    verb: 'End',
    danger: true,
    noReason: true,
    act: async () => {
      await call(path, { method: 'DELETE' })
      toast('It is over.')
      pages.reload()
    },
  })
  const columns = [
    { title: 'Who', width: 'minmax(90px, 1fr)', cell: ({ principal }: SessionBody) => <strong>{principal}</strong> },
    { title: 'By', width: '90px', wide: true, cell: ({ scheme }: SessionBody) => scheme },
    {
      title: 'From',
      width: 'minmax(90px, 1fr)',
      wide: true,
      cell: ({ address }: SessionBody) => address ?? <span class="muted">–</span>,
    },
    { title: 'Since', width: '84px', wide: true, cell: ({ begun_at }: SessionBody) => <Time at={begun_at} /> },
    { title: 'Ends', width: '84px', wide: true, cell: ({ expires_at }: SessionBody) => <Time at={expires_at} /> },
    {
      title: 'End it',
      width: '180px',
      cell: ({ id, principal }: SessionBody) => (
        <>
          <button
            type="button"
            class="quiet"
            aria-label={`End this session of ${principal}`}
            onClick={() => setAsked(end(`this session of ${principal}`, toPath('admin', 'sessions', id)))}
          >
            End
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() =>
              setAsked(end(`all sessions of ${principal}`, `admin/sessions?${new URLSearchParams({ principal })}`))
            }
          >
            All of {principal}
          </button>
        </>
      ),
    },
  ]
  return (
    <>
      <PagedTable
        label="Sessions"
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title="Nobody is signed in">Requests with a password or a token have no session.</Empty>}
      />
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </>
  )
}
