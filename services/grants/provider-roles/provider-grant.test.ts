import { describe, expect, test } from 'vitest'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { evolveUserGrant, type UserGrant, type UserGrantEvent } from '../vocabulary/user-grant.ts'
import type { Project } from '../vocabulary/project.ts'
import type { ProviderTable, TableRow } from '../vocabulary/provider-table.ts'
import { decideGift, decideRest, type Gift, keyOfProviderGrant } from './provider-grant.ts'

const row = (rowId: string, ...roleKeys: string[]): TableRow => ({ rowId, projectId: 'p', roleKeys })
const gift = (second: number, rows: TableRow[], sequence = 5): Gift => ({
  idpId: 'acme',
  organizationId: 'o',
  userId: 'ada',
  projectId: 'p',
  rows,
  sequence,
  signedInAt: new Date(second * 1000),
})
const of = <T>(state: T | undefined, organizationId = 'o') =>
  ({ id: 'x', organizationId, state }) as unknown as Aggregate<T>
const projectWith = (...keys: string[]) =>
  of({ name: 'P', roles: Object.fromEntries(keys.map((key) => [key, {}])) } as unknown as Project)
const noTable = of<ProviderTable>(undefined)
const all = { table: noTable, project: projectWith('reader', 'writer'), projectGrant: undefined }

/** The grant after these decisions, one after the other, and the events of the last one. */
function after(...decide: ((grant: Aggregate<UserGrant>) => { events: UserGrantEvent[] })[]) {
  let state: UserGrant | undefined
  let events: UserGrantEvent[] = []
  for (const each of decide) {
    ;({ events } = each(of(state)))
    for (const event of events) state = evolveUserGrant(state, event)
  }
  return { keys: state && !state.removed ? state.roleKeys : [], types: events.map(({ type }) => type) }
}
const give =
  (second: number, rows: TableRow[], found: Parameters<typeof decideGift>[2] = all, sequence = 5) =>
  (grant: Aggregate<UserGrant>) =>
    decideGift(grant, gift(second, rows, sequence), found, 10) as { events: UserGrantEvent[] }
const rest = (rows: TableRow[]) => (grant: Aggregate<UserGrant>) =>
  decideRest(grant, rows) as { events: UserGrantEvent[] }

describe('a sign-in gives the roles of the rows that it matches', () => {
  test('and takes them with the claim; said again, it changes nothing', () => {
    const first = give(1, [row('a', 'reader'), row('b', 'reader', 'writer')])
    expect(after(first)).toEqual({ keys: ['reader', 'writer'], types: ['added'] })
    expect(after(first, give(2, [row('a', 'reader'), row('b', 'reader', 'writer')])).types).toEqual([])
    expect(after(first, give(2, [row('a', 'reader')]))).toEqual({ keys: ['reader'], types: ['changed'] })
    expect(after(first, give(2, []))).toEqual({ keys: [], types: ['removed'] })
    expect(after(first, give(2, []), give(3, [row('a', 'reader')]))).toEqual({ keys: ['reader'], types: ['added'] })
  })

  test('but an earlier sign-in that comes later changes nothing, also where the later one took all', () => {
    const [before, later] = [give(1, [row('a', 'reader')]), give(2, [row('b', 'writer')])]
    expect(after(later, before).keys).toEqual(['writer'])
    const takes = give(2, [])
    expect(after(give(0, [row('a', 'reader')]), takes, before).keys).toEqual(['reader'])
  })

  test('but none that the project has no more, or that its grant does not give', () => {
    const found = { ...all, project: projectWith('reader') }
    expect(after(give(1, [row('a', 'reader', 'writer')], found)).keys).toEqual(['reader'])
    const foreign = { ...all, project: { ...projectWith('reader', 'writer'), organizationId: 'other' } }
    expect(after(give(1, [row('a', 'reader')], foreign)).keys).toEqual([])
    const projectGrant = of({ roleKeys: ['writer'] }) as unknown as NonNullable<
      Parameters<typeof decideGift>[2]['projectGrant']
    >
    expect(after(give(1, [row('a', 'reader', 'writer')], { ...foreign, projectGrant })).keys).toEqual(['writer'])
  })

  test('but no more than a table gives that came since', () => {
    const table = (sequence: number, ...rows: TableRow[]) => ({ ...all, table: of({ sequence, rows }) })
    const rows = [row('a', 'reader', 'writer')]
    expect(after(give(1, rows, table(6, row('a', 'reader')))).keys).toEqual(['reader'])
    expect(after(give(1, rows, table(6))).keys).toEqual([])
    expect(after(give(1, rows, table(4))).keys).toEqual(['reader', 'writer'])
  })
})

test('what a table gives no more goes, and what another row still gives stays', () => {
  const given = give(1, [row('a', 'reader'), row('b', 'reader', 'writer')])
  expect(after(given, rest([row('a', 'reader'), row('c', 'writer')]))).toEqual({ keys: ['reader'], types: ['changed'] })
  expect(after(given, rest([row('a', 'reader'), row('b', 'reader', 'writer')])).types).toEqual([])
  expect(after(given, rest([]))).toEqual({ keys: [], types: ['removed'] })
  expect(after(given, rest([]), rest([])).types).toEqual([])
})

test('a provider has one grant of a user in a project', () => {
  const { id } = keyOfProviderGrant('acme', 'ada', 'p')
  expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(keyOfProviderGrant('acme', 'ada', 'p').id).toBe(id)
  expect(keyOfProviderGrant('acme', 'ad', 'ap').id).not.toBe(id)
})
