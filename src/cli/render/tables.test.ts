import { expect, it } from 'vitest'
import { renderCatalog } from './tables.ts'

it('shows services with their plans', () => {
  const text = renderCatalog([
    {
      id: '1',
      name: 'postgres',
      description: 'A PostgreSQL\ndatabase',
      bindable: true,
      plans: [
        { id: '2', name: 'small', description: 'Shared server' },
        { id: '3', name: 'large', description: 'Own server', free: false, bindable: false, plan_updateable: true },
        { id: '4', name: 'bare', description: 'Nothing', bindable: false },
      ],
    },
  ])
  expect(text).toBe(
    [
      'SERVICE / PLAN  COST  CAN          DESCRIPTION',
      'postgres                           A PostgreSQL database',
      '  small         free  bind         Shared server',
      '  large         paid  change plan  Own server',
      '  bare          free  -            Nothing',
      '',
    ].join('\n'),
  )
})

it('says that a catalog is empty', () => {
  expect(renderCatalog([])).toBe('The catalog is empty.\n')
})
