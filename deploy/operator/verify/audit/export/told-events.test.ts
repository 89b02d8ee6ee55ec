import { expect, test } from 'vitest'
import { makePage } from '#lib/eventstore/audit/page'
import { beginning, changedLine, checkpointOf, exportOf, found, lines, of, replaced, row, salt, type Told } from './testing/true-export.ts' // prettier-ignore

const at = (line: Told) => lines.indexOf(line)

test.each<[string, Told]>([
  ['an unknown member', { roles: ['ORG_OWNER'] }],
  ['a position that is a number', { position: 1 }],
  ['a position that is written otherwise', { position: '01' }],
  ['a sequence that is a number', { sequence: 1 }],
  ['another kind', { kind: 'Event' }],
  ['a kind that every object has', { kind: 'constructor' }],
  ['a service that is none', { service: 'gateway' }],
  ['a payload that is a list', { payload: [] }],
])('an event with %s', async (_, other) => {
  const some = await found(changedLine(of('event')[0]!, other))
  expect(some).toContainEqual(`line ${at(of('event')[0]!) + 1}: no export has such a line`)
})

test.each<[string, Told]>([
  ['another text', { creator: 'framed' }],
  ['another id', { aggregateId: 'c' }],
  ['a cause', { cause: 'users-9' }],
  ['another payload', { payload: { n: 2 } }],
  ['more in its payload', { payload: { n: 1, more: 1 } }],
  ['a personal field in its payload, though nothing of it is sealed', { payload: { n: 1, userName: 'x' } }],
  ['a sealed part', { sealed: 'text' }],
  ['less, as if it were forgotten', { forgotten: true }],
])('an event with %s than the proven row', async (_, other) => {
  expect(await found(changedLine(of('event')[0]!, other))).toContainEqual(
    'event users-1: it does not say what is proven',
  )
})

test('a sealed event is told with its personal fields, and with nothing else that is not proven', async () => {
  const event = of('event').find(({ sealed }) => sealed)!
  const problem = `event users-${event['position']}: it does not say what is proven`
  const { payload } = event
  expect(await found(changedLine(event, { payload: { ...payload, roles: ['ORG_OWNER'] } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { ...payload, $sealed: 'other' } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { userName: 'opened' } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { state: 1, $sealed: 'text' } }))).toEqual([])
  expect(await found(changedLine(event, { payload: { state: 1 }, forgotten: true }))).toEqual([])
})

test('an event that is told twice, also with another body', async () => {
  const event = of('event')[0]!
  const end = { kind: 'end', events: 5, objects: 0 }
  const with2 = (other: Told) => [...lines.slice(0, -1), { ...event, ...other }, end]
  expect(await found(with2({}))).toEqual(['event users-1: it is told twice'])
  expect(await found(with2({ creator: 'framed' }))).toEqual(['event users-1: it is told twice'])
})

test('an event under a key that moves the border between key and row', async () => {
  const event = of('event')[0]!
  const { key, row: text } = event['proof']
  const proof = { page: 1, key: `${key}.`, row: text }
  expect(await found(changedLine(event, { proof }))).toContainEqual(
    expect.stringContaining('no export has such a line'),
  )
})

test('objects of one name are different where their types are', async () => {
  const first = (type: string, id: string) => ({ ...row(1, id, 1, 'locked'), aggregate_type: type })
  const rows = [first('user', 'x y'), { ...first('user x', 'y'), position: '2', sequence: '2' }]
  const page = makePage('users', beginning, rows, salt)
  const some = exportOf({ service: 'users', pages: [{ ...page, rows }], checkpoints: [checkpointOf(page, 1)] })
  expect(await found(some)).toEqual(['event users-2: events before it are missing: user x y, sequence 1'])
})

test('a row that was left out is named, and the end must say how many there are', async () => {
  const omitted = { kind: 'omitted', service: 'users', table: 'events', position: '9', bytes: 10_000_000 }
  const [end] = of('end')
  const named = await found(replaced(end!, omitted, { ...end!, omitted: 1 }))
  expect(named).toEqual(['event users-9: it was left out: a row of events has 10000000 bytes, more than any of Roster'])
  expect(await found(replaced(end!, omitted, end!))).toContain('the export: it is not whole: lines are missing')
  expect(await found(changedLine(end!, { omitted: 1 }))).toEqual(['the export: it is not whole: lines are missing'])
})
