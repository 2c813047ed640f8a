import type { ActQuery, BindingQuery, InstanceQuery, OperationQuery, Page } from '../../store.ts'
import { keyOf } from '../keys.ts'
import type { Dialect } from '../sql-dialect.ts'
import {
  actList,
  bindingList,
  instanceCounts,
  instanceList,
  operationList,
  type SqlList,
  type SqlRead,
} from '../sql-lists.ts'
import { failureTexts, surveyTexts, toFailedOperation, toSurvey } from '../sql-survey.ts'
import type { Run } from './database.ts'
import { generatedKey } from './operator-schema.ts'

function ofInstance(id: string | undefined) {
  return ['instance_id = ?', id === undefined ? undefined : keyOf(id)] as const
}

export function createLists(run: Run, schema: string) {
  const dialect: Dialect = {
    table: name => `${schema}.${name}`,
    id: keyOf,
    operationsOf: ofInstance,
    eventsOf: ofInstance,
    instanceKey: 'id',
    countedInstances: `select min(id) as one, count(*) as instances from ${schema}.instance
      where deleted_at is null and phase <> 'deleted' group by service_id, plan_id, phase, usable`,
    activeOperations: `(select * from ${schema}.operation where state in ('queued', 'running') offset 0) active`,
    // Its statistics know each column, but not which values stand together.
    beside: column => `(${column} || '')`,
    failedSteps: `cross join lateral (select s.doc from ${schema}.step s
      where s.operation_id = active.id and s.state = 'failed' offset 0) s`,
    generated: generatedKey,
    // The last one: what comes from outside stands before it. PostgreSQL cannot read a JSON that has a NUL anywhere.
    numberIn: (doc, path) => `substring(${doc} from '.*"${path.replaceAll('.', '":{"')}":([0-9]+)')::double precision`,
  }

  /** Without a name: planned anew for its values, since no plan is right for all of them. */
  function ask({ text, values }: Pick<SqlRead<unknown>, 'text' | 'values'>) {
    let place = 0
    const numbered = text.replaceAll('?', () => `$${++place}`)
    return run({ text: numbered }, values)
  }

  /** An edge that is older than the page is still a place in the list: all up to there is looked at. */
  async function read<Item>({ edges, after }: SqlList<Item>): Promise<Page<Item>> {
    const found = await Promise.all(edges.map(ask))
    const page = after(found.map(([row]) => row))
    return page.toPage(await ask(page))
  }

  const counts = instanceCounts(dialect)

  return {
    instanceCounts: async () => (await run({ text: counts.text }, [])).map(counts.toCount),
    listInstances: async (query: InstanceQuery = {}) => read(instanceList(query, dialect)),
    listBindings: async (query: BindingQuery = {}) => read(bindingList(query, dialect)),
    listActs: async (query: ActQuery = {}) => read(actList(query, dialect)),
    async failures(most: number) {
      const { failed, retrying } = failureTexts(dialect, most)
      return [...(await ask(failed)), ...(await ask(retrying))].map(toFailedOperation)
    },
    async survey(endedSince: number) {
      const [row] = await run({ text: `select ${schema}.now_ms() as now` }, [])
      const now = Number(row?.now)
      const texts = surveyTexts(dialect, now, endedSince)
      const [active, ended, instances, bindings] = await Promise.all([
        ask(texts.active),
        ask(texts.ended),
        ask(texts.instances),
        ask(texts.bindings),
      ])
      return toSurvey({ active, ended, instances, bindings }, now)
    },
    listOperations: async (query: OperationQuery = {}) => read(operationList(query, dialect)),
  }
}
