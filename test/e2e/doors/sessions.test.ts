import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { DescMessage } from '@bufbuild/protobuf'
import { offered } from '#lib/rpc/methods'
import type { Operation } from '../../examples/contract.ts'
import { beginAtLogin, newLoginClient, onLoginPages } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication } from '../../examples/sign-in.ts'
import type { ExampleApplication } from '../../examples/applications.ts'
import { factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { newPerson } from './stage.ts'

// Every operation that is told a session or an authorization request, with one that is not whole, not the person's, or over.

const { house } = inject('roster')
const sql = house && postgres(house.databaseUrl, { max: 1 })

interface Session {
  sessionId: string
  sessionToken: string
}

let application: ExampleApplication
let people: [ExampleHuman, ExampleHuman]
/** With a second factor. */
let careful: ExampleHuman
let client: { token: string }
beforeAll(async () => {
  const home = await newOrganization()
  application = await newWebApplication(home, await newProject(home), onLoginPages)
  people = [await newPerson(home), await newPerson(home)]
  careful = await newPerson(home)
  ok(await call('AddOTPEmail', { userId: careful.userId }, admin()))
  client = await newLoginClient(await newOrganization())
})
afterAll(() => sql?.end())

const states = ['whole', 'half-done', 'partial', 'ended', 'foreign', 'expired request', 'answered request'] as const
type State = (typeof states)[number]

/** What each answers: for every state, or by its name. `in`: it opens. */
const doors: Record<string, { send(at: At): ReturnType<typeof call>; says: Partial<Record<State, string>> }> = {
  SetSession: {
    send: ({ session, person }) => call('SetSession', { ...session, password: person.password }, client),
    // To go on with it is all that a half-done or partial session is for.
    says: { whole: 'in', 'half-done': 'in', partial: 'in', ended: 'SESSION_NOT_FOUND', foreign: 'SESSION_NOT_FOUND' },
  },
  GetSession: {
    send: ({ session: { sessionId }, own }) => call('GetSession', { sessionId }, own),
    says: {
      whole: 'in',
      'half-done': 'TOKEN_INVALID',
      partial: 'TOKEN_INVALID',
      ended: 'TOKEN_INVALID',
      foreign: 'PERMISSION_DENIED',
    },
  },
  SearchSessions: {
    send: ({ session: { sessionId }, own }) => call('SearchSessions', { sessionIds: [sessionId] }, own),
    says: {
      whole: 'in',
      'half-done': 'TOKEN_INVALID',
      partial: 'TOKEN_INVALID',
      ended: 'TOKEN_INVALID',
      foreign: 'none',
    },
  },
  DeleteSession: {
    send: ({ session: { sessionId }, own }) => call('DeleteSession', { sessionId }, own),
    says: {
      whole: 'in',
      'half-done': 'TOKEN_INVALID',
      partial: 'TOKEN_INVALID',
      ended: 'TOKEN_INVALID',
      foreign: 'PERMISSION_DENIED',
    },
  },
  ExplainSignIn: {
    send: ({ session: { sessionId }, person: { userId }, own }) =>
      call('ExplainSignIn', { userId, sessionId, clientId: application.clientId }, own),
    says: {
      whole: 'in',
      'half-done': 'TOKEN_INVALID',
      partial: 'TOKEN_INVALID',
      ended: 'TOKEN_INVALID',
      // As an unknown one: it says nothing of that session.
      foreign: 'SIGN_IN_REASON_PERSON',
    },
  },
  GetAuthRequest: {
    send: ({ authRequestId }) => call('GetAuthRequest', { authRequestId }, client),
    says: { whole: 'in', 'expired request': 'AUTH_REQUEST_NOT_FOUND', 'answered request': 'AUTH_REQUEST_ANSWERED' },
  },
  CreateCallback: {
    send: ({ authRequestId, session }) => call('CreateCallback', { authRequestId, session: { ...session } }, client),
    says: {
      whole: 'in',
      'half-done': 'FACTOR_REQUIRED',
      partial: 'FACTOR_REQUIRED',
      ended: 'SESSION_NOT_FOUND',
      foreign: 'SESSION_NOT_FOUND',
      'expired request': 'AUTH_REQUEST_NOT_FOUND',
      'answered request': 'AUTH_REQUEST_ANSWERED',
    },
  },
}

interface At {
  session: Session
  person: ExampleHuman
  /** The session as the caller. */
  own: { token: string }
  authRequestId: string
}

async function standAt(state: State): Promise<At> {
  const [lenient, other] = people
  const person = state === 'partial' ? careful : lenient
  const session = await begin(person, state !== 'half-done')
  if (state === 'ended') ok(await call('DeleteSession', { sessionId: session.sessionId }, admin()))
  // The token is the caller's own, the session somebody else's.
  if (state === 'foreign') session.sessionId = (await begin(other, true)).sessionId
  const authRequestId = await beginAtLogin(application)
  const over = { 'expired request': 'expires_at = roster_users.roster_now()', 'answered request': "answer = 'given'" }
  if (state in over)
    await sql!`
      update roster_users.authorization_requests set ${sql!.unsafe(over[state as keyof typeof over])}
      where id = ${authRequestId}
    `
  return { session, person, own: { token: session.sessionToken }, authRequestId }
}

async function begin({ userName: loginName, userId, password }: ExampleHuman, isWhole: boolean): Promise<Session> {
  const request = isWhole ? { loginName, password } : { userId }
  const { sessionId, sessionToken } = ok(await call('CreateSession', request, client))
  recordSecret(sessionToken)
  return { sessionId, sessionToken }
}

const reasonOf = (answer: Awaited<ReturnType<typeof call>>): string =>
  factsOf(answer).reason ?? answer.ok?.missing?.[0]?.reason ?? (isEmpty(answer.ok) ? 'none' : 'in')

// A list without entries is left out, or empty.
const isEmpty = (answer: object = {}) =>
  Object.values(answer).every((value) => Array.isArray(value) && value.length === 0)

test('every operation that is told a session or a request has its row here', () => {
  const told = offered.filter(({ desc }) => names(desc.input)).map(({ desc }) => desc.name)
  expect(Object.keys(doors).toSorted()).toEqual(told.toSorted())
})

// Whatever lies deeper is a message of Google's.
function names({ fields }: DescMessage, deeper = 2): boolean {
  return fields.some(
    ({ name, message }) =>
      /^(session_(id|token)s?|auth_request_id)$/.test(name) || (message && deeper > 0 && names(message, deeper - 1)),
  )
}

describe.each(Object.entries(doors))('%s', (_, { send, says }) => {
  const rows = states.filter((state) => says[state] !== undefined && (sql || !state.endsWith('request')))
  test.each(rows)('with a session or request that is %s', async (state) => {
    expect(reasonOf(await send(await standAt(state)))).toBe(says[state])
  })
})

test.each(['half-done', 'ended'] as const)('no operation has a caller whose session is %s', async (state) => {
  const { own } = await standAt(state)
  const closed = offered.filter(({ access, streams }) => access.rule !== 'public' && !streams)
  expect(closed.length).toBeGreaterThan(100)
  for (const { desc } of closed)
    expect([desc.name, reasonOf(await callGrpc(desc.name as Operation, {}, own))]).toEqual([desc.name, 'TOKEN_INVALID'])
})
