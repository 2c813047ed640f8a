import { expect, it } from 'vitest'
import { parseProvision } from './requests.ts'

const ids = { service_id: 's', plan_id: 'p' }

it('keeps the org and space of the context where the body has none', () => {
  const context = { platform: 'cloudfoundry', organization_guid: 'o', space_guid: 's' }
  expect(parseProvision({ ...ids, context }, false).context).toEqual(context)
})

it('puts the org and space of the body into the context', () => {
  const request = { ...ids, organization_guid: 'o', space_guid: 's', context: { platform: 'cloudfoundry' } }
  expect(parseProvision(request, false).context).toEqual({
    platform: 'cloudfoundry',
    organization_guid: 'o',
    space_guid: 's',
  })
})
