import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { admin, newHuman, newMachine, newMember, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { newIdp, newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string
let abroad: string
let viewer: { token: string }
let machine: string

beforeAll(async () => {
  ;[home, abroad] = [await newOrganization(), await newOrganization()]
  machine = await newMachine(home)
  await newProject(home, ['reader'])
  const { userId } = await newHuman(home, { verification: { returnCode: {} } })
  ok(await json('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin()))
  viewer = await newMember(home, ['ORG_OWNER_VIEWER'])
  await Promise.all([newMachine(abroad), newHuman(abroad), newIdp()])
})

type Events = any[]
const idsOf = (events: Events | undefined) => (events ?? []).map(({ id }) => id as string)
const typesOf = (events: Events | undefined) => [...new Set((events ?? []).map(({ type }) => type as string))].sort()

/** All events from a cursor to the end, page by page. */
async function all(search: (request: JsonObject) => Promise<any>, request: JsonObject = {}) {
  const events: Events = []
  for (let cursor = ''; ;) {
    const page = await search({ ...request, cursor })
    events.push(...(page.events ?? []))
    cursor = page.cursor
    if (page.endReached) return { events, cursor }
  }
}

describe.each(over('grpc-web'))('events over $encoding', ({ call, encoding }) => {
  const searchHome = async (request: JsonObject = {}) =>
    ok(await call('SearchOrganizationEvents', request, { token: viewer.token, organization: home }))
  const searchAll = async (request: JsonObject = {}) => ok(await call('SearchEvents', request, admin()))

  test('match the events in the stream, for each service', async () => {
    const { events } = await all(searchHome, { filter: { aggregateIds: [machine] } })
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^users-\d+$/),
        source: '/roster/users',
        type: 'roster.user.machine.added.v1',
        organizationId: home,
        aggregateType: 'user',
        aggregateId: machine,
        sequence: '1',
        actor: 'admin-machine',
        requestId: expect.any(String),
        time: expect.stringMatching(/Z$/),
        dataSchema: 'proto:roster.events.v1.UserMachineAdded',
        data: {
          userName: expect.any(String),
          name: 'A machine',
          description: '',
          accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER',
        },
      },
    ])
    const sources = (await all(searchAll)).events.map(({ source }) => source)
    expect(sources).toEqual(expect.arrayContaining(['/roster/users', '/roster/grants', '/roster/idp']))
  })

  test('pages of one event give the same as one page, across services', async () => {
    const { events } = await all(searchHome)
    expect(events.length).toBeGreaterThan(7)
    for (const limit of [1, 2, 3]) expect(idsOf((await all(searchHome, { limit })).events)).toEqual(idsOf(events))
  })

  test('filters pass the events that they name', async () => {
    const types = async (filter: JsonObject) => typesOf((await all(searchHome, { filter })).events)
    expect(await types({ eventTypes: ['user.email.changed'] })).toEqual(['roster.user.email.changed.v1'])
    expect(await types({ eventTypes: ['roster.user.email.changed.v1'] })).toEqual(['roster.user.email.changed.v1'])
    expect(await types({ eventTypes: ['user.email.code.*', 'project.*'] })).toEqual([
      'roster.project.added.v1',
      'roster.project.role.added.v1',
      'roster.user.email.code.returned.v1',
    ])
    expect(await types({ aggregateTypes: ['organization', 'member'] })).toEqual([
      'roster.member.added.v1',
      'roster.organization.added.v1',
    ])
    expect(await types({ actors: ['no-one-at-all'] })).toEqual([])
    expect(await types({ since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([])
    expect(await types({ since: '2020-01-01T00:00:00Z', organizationId: home })).toEqual(await types({}))
    // The first and the last valid time.
    for (const since of ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.001Z', '1969-12-31T23:59:59.5Z'])
      expect(await types({ since })).toEqual(await types({}))
    expect(await types({ since: '9999-12-31T23:59:59.999Z' })).toEqual([])
    const late = await call('SearchEvents', { filter: { since: '9999-12-31T23:59:59.999999999Z' } }, admin())
    expect(factsOf(late)).toMatchObject({ code: 3, fields: ['filter.since'] })
    const ofHome = await all(searchAll, { filter: { organizationId: home } })
    expect(idsOf(ofHome.events)).toEqual(idsOf((await all(searchHome)).events))
  })

  test('an organization never sees those of another, whatever the filter and the cursor', async () => {
    const { cursor } = await searchAll({ limit: 1 })
    const foreign = await searchAll({ filter: { organizationId: abroad }, limit: 1 })
    const requests: JsonObject[] = [
      {},
      { cursor },
      { cursor: foreign.cursor },
      { filter: { aggregateTypes: ['user', 'idp'] } },
      { filter: { eventTypes: ['*'] } },
      { filter: { aggregateIds: [abroad, 'roster'] } },
      { filter: { organizationId: '' } },
    ]
    for (const request of requests) {
      const { events = [] } = await searchHome(request)
      for (const event of events) expect(event.organizationId).toBe(home)
    }
    const answer = await call(
      'SearchOrganizationEvents',
      { filter: { organizationId: abroad } },
      { ...viewer, organization: home },
    )
    expect(factsOf(answer)).toMatchObject({ code: 3, fields: ['filter.organizationId'] })
  })

  test('an impossible request is refused, and the error names the field', async () => {
    const facts = async (request: JsonObject) => {
      const { code, reason, fields } = factsOf(await call('SearchEvents', request, admin()))
      return [code, reason, fields]
    }
    const { cursor } = await searchAll({ limit: 1 })
    for (const malformed of ['x', '!', 'AAAA', `${cursor}A`, `${cursor}=`, cursor.slice(1), 'a b', '\u{1F98A}'])
      expect(await facts({ cursor: malformed }), malformed).toEqual([3, 'CURSOR_INVALID', ['cursor']])
    const bad = { limit: 1001, waitSeconds: 31, filter: { eventTypes: ['user.*.added', ''], aggregateIds: [''] } }
    expect(await facts(bad)).toEqual([
      3,
      'VALIDATION_FAILED',
      expect.arrayContaining([
        'limit',
        'waitSeconds',
        'filter.eventTypes[0]',
        'filter.eventTypes[1]',
        'filter.aggregateIds[0]',
      ]),
    ])
    expect(await facts({ limit: -1, waitSeconds: -1 })).toEqual([3, 'VALIDATION_FAILED', ['limit', 'waitSeconds']])
  })

  test('a waiting request is answered at the next event, long before its deadline', async () => {
    const { cursor } = await all(searchHome)
    const waiting = searchHome({ cursor, waitSeconds: 8 })
    const others = searchHome({ cursor, waitSeconds: 1, filter: { eventTypes: ['idp.*'] } })
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])
    expect(early).toBe('waits')
    await newMachine(abroad)
    const userId = await newMachine(home)
    const written = performance.now()
    const { events } = await waiting
    expect(performance.now() - written).toBeLessThan(1000)
    expect(events.map((event: any) => event.aggregateId)).toEqual([userId])
    expect(await others).toMatchObject({ endReached: true })
  })

  test('from the end, no earlier event comes', async () => {
    const { events, cursor } = await searchHome({ fromEnd: true })
    expect(events).toBeUndefined()
    const userId = await newMachine(home)
    const next = await searchHome({ cursor, waitSeconds: 5 })
    expect(next.events.map((event: any) => event.aggregateId)).toEqual([userId])
  })

  test('a wait ends in time for the deadline of the call', async () => {
    const { cursor } = await searchHome({ fromEnd: true })
    // The gRPC library sends a long deadline by itself.
    const waitSeconds = encoding === 'grpc' ? 1 : 30
    const headers = { 'x-request-timeout': '2', 'grpc-timeout': '2S', 'connect-timeout-ms': '2000' }
    const started = performance.now()
    const options = { token: viewer.token, organization: home, headers }
    const answer = ok(await call('SearchOrganizationEvents', { cursor, waitSeconds }, options))
    expect(answer.events).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe.skipIf(!house)(`the events of PostgreSQL${house ? '' : ' (a Roster by URL shows none)'}`, () => {
  const sql = postgres(house?.databaseUrl ?? 'postgres://nowhere', { max: 1, onnotice: () => {} })
  afterAll(() => sql.end())

  test('are the same as those of the API, in the same order', async () => {
    const search = async (request: JsonObject) => ok(await json('SearchEvents', request, admin()))
    const seen = new Map<string, string[]>()
    const stored = new Map<string, string[]>()
    const services = ['users', 'grants', 'idp', 'notifier']
    for (const service of services) {
      const rows = await sql<{ id: string }[]>`
        select ${service} || '-' || position as id from ${sql(`roster_${service}`)}.events e order by e.transaction_id, e.position
      `
      stored.set(
        service,
        rows.map(({ id }) => id),
      )
    }
    const { events } = await all(search, { limit: 333 })
    for (const service of services) {
      const ids = idsOf(events).filter((id) => id.startsWith(`${service}-`))
      // Others may write in the meantime.
      seen.set(service, ids.slice(0, stored.get(service)!.length))
    }
    expect(seen).toEqual(stored)
    expect(new Set(idsOf(events)).size).toBe(events.length)
  })
})
