import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { newLoginClient } from '../../examples/login-applications.ts'
import { type ExampleHuman, newHuman, newMember, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call, over, recordSecret } from '../clients/encodings.ts'

let home: string
let client: { token: string }
let manager: Awaited<ReturnType<typeof newMember>>
let person: ExampleHuman
let stranger: ExampleHuman
/** The sessions of the person, half-done and whole, by their creation. */
let half: string
let whole: string

const begin = async ({ userId }: ExampleHuman, password = ''): Promise<string> => {
  const { sessionId, sessionToken } = ok(await call('CreateSession', { userId, password }, client))
  recordSecret(sessionToken)
  return sessionId
}
const idsOf = (answer: Answer) => (ok(answer).sessions ?? []).map(({ id }: { id: string }) => id)

beforeAll(async () => {
  home = await newOrganization()
  client = await newLoginClient(await newOrganization())
  manager = await newMember(home, ['ORG_USER_MANAGER'])
  person = await newHuman(home, { password: unique('Password') })
  stranger = await newHuman(await newOrganization(), { password: unique('Password') })
  half = await begin(person)
  whole = await begin(person, person.password)
})

describe.each(over('connect'))('SearchSessions over $encoding', ({ call }) => {
  const search = (request: JsonObject, as: { token: string } = client) => call('SearchSessions', request, as)

  test('finds by ids and by user what GetSession shows, by creation, in pages', async () => {
    const foreign = await begin(stranger)
    const sessionIds = [foreign, whole, half, 'unknown']
    const { sessions, total } = ok(await search({ sessionIds, withTotal: true }))
    expect(total).toBe(3)
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual([half, whole, foreign])
    for (const session of sessions)
      expect(session).toEqual(ok(await call('GetSession', { sessionId: session.id }, client)).session)
    expect(sessions[0].factors.password).toBeUndefined()
    expect(sessions[1].factors.password.verifiedAt).toBeDefined()
    expect(idsOf(await search({ userId: person.userId, descending: true }))).toEqual([whole, half])
    expect(idsOf(await search({ userId: person.userId, sessionIds: [whole, foreign] }))).toEqual([whole])
    const { nextCursor } = ok(await search({ sessionIds, limit: 2 }))
    expect(idsOf(await search({ sessionIds, limit: 2, cursor: nextCursor }))).toEqual([foreign])
  })

  test('finds by the time at which sessions began', async () => {
    const { session } = ok(await call('GetSession', { sessionId: whole }, client))
    const { creationDate } = session
    const found = async (method: string) =>
      idsOf(
        await search({
          userId: person.userId,
          creation: { creationDate, method: `TIMESTAMP_QUERY_METHOD_${method}` },
        }),
      )
    expect(await found('EQUALS')).toEqual([whole])
    expect(await found('GREATER_OR_EQUALS')).toEqual([whole])
    expect(await found('GREATER')).toEqual([])
    expect(await found('LESS')).toEqual([half])
    expect(await found('LESS_OR_EQUALS')).toEqual([half, whole])
  })

  test('shows a manager those of the own organization, and everybody else their own', async () => {
    const [theirs, mine] = [await begin(stranger), await newHuman(home, { password: unique('Password') })]
    const token = await signIn(mine)
    const own = idsOf(await search({ userId: mine.userId }, { token }))
    expect(own).toHaveLength(1)
    const sessionIds = [half, whole, theirs, ...own]
    expect(idsOf(await search({ sessionIds }, manager))).toEqual([half, whole, ...own])
    expect(ok(await search({ sessionIds, withTotal: true }, { token }))).toMatchObject({ total: 1, sessions: [{}] })
    expect(idsOf(await search({ sessionIds }, { token }))).toEqual(own)
    expect(idsOf(await search({ userId: person.userId }, { token }))).toEqual([])
  })

  test('asks for somebody’s sessions, not for all', async () => {
    expect(factsOf(await search({}))).toMatchObject({ reason: 'VALIDATION_FAILED', fields: ['sessionIds'] })
    expect(factsOf(await search({ userId: 'x', creation: {} })).fields).toEqual(['creation.creationDate'])
    expect(factsOf(await search({ userId: 'x', cursor: 'x' })).reason).toBe('CURSOR_INVALID')
  })

  test('leaves out what is over', async () => {
    const [first, second] = [await begin(person), await begin(person, person.password)]
    for (const sessionId of [first, second]) ok(await call('DeleteSession', { sessionId }, manager))
    expect(idsOf(await search({ sessionIds: [first, second] }))).toEqual([])
  })
})
