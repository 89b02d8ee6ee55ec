import type { JsonObject } from '@bufbuild/protobuf'
import { afterEach, expect, test } from 'vitest'
import { codes, RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Operation } from '../../test/examples/contract.ts'
import { callJson } from '../../test/e2e/clients/json.ts'
import { startTestGateway, type TestGateway } from './testing/test-gateway.ts'

const users = 'roster.users.v1.UserService'
const passwords = 'roster.users.v1.PasswordService'
const sessions = 'roster.users.v1.SessionService'
let gateway: TestGateway
let asked: { name: string; key: string | undefined; deadline: number }[]

afterEach(() => gateway?.stop())

/** As of a process that was killed with the request: no answer comes. */
const never = () => new Promise<never>(() => {})

/** A gateway whose services answer the n-th request, from 0, with the result of `answer`. */
async function start(answer: (n: number) => JsonObject | Promise<JsonObject>) {
  asked = []
  const names = [
    ...['GetUser', 'SetEmail'].map((name) => `${users}.${name}`),
    `${passwords}.UpdateMyPassword`,
    `${sessions}.CreateSession`,
    'roster.notifier.v1.EventService.SearchEvents',
  ]
  const operation =
    (name: string) =>
    (_request: JsonObject, { idempotencyKey, deadline }: Call) =>
      answer(asked.push({ name, key: idempotencyKey, deadline }) - 1)
  gateway = await startTestGateway(Object.fromEntries(names.map((name) => [name, operation(name)])))
}

const ask = (operation: Operation, request: JsonObject, headers: Record<string, string> = {}, token = 'admin') =>
  callJson(operation, request, { url: gateway.url, headers, ...(token && { token }) })
const getUser = (headers = {}) => ask('GetUser', { userId: 'u' }, headers)
const setEmail = (headers: Record<string, string>) =>
  ask('SetEmail', { userId: 'u', email: 'ada@example.com', isVerified: true }, headers)
const key = { 'idempotency-key': 'key' }
const brief = { 'x-request-timeout': '3' }

test('a read that a killed process had taken is answered by another process, long before its deadline', async () => {
  await start((n) => (n === 0 ? never() : { user: { userId: 'u' } }))
  const began = performance.now()
  expect((await getUser()).ok).toMatchObject({ user: { userId: 'u' } })
  expect(performance.now() - began).toBeLessThan(5000)
  expect(asked).toHaveLength(2)
  expect(asked[1]!.deadline).toBe(asked[0]!.deadline)
})

test('a token whose lookup a killed process had taken is looked up by another process', async () => {
  await start(() => ({ user: { userId: 'u' } }))
  gateway.backstage.beforeAuthenticated = () =>
    gateway.backstage.asked.authenticate === 1 ? never() : Promise.resolve()
  expect((await getUser()).ok).toMatchObject({ user: { userId: 'u' } })
  expect(gateway.backstage.asked.authenticate).toBe(2)
})

test('a write under an Idempotency-Key is asked again with its key, and the earlier of the two answers counts', async () => {
  const first = Promise.withResolvers<JsonObject>()
  await start((n) => (n === 0 ? first.promise : { verificationCode: 'SECOND' }))
  expect((await setEmail(key)).ok).toMatchObject({ verificationCode: 'SECOND' })
  expect(asked.map((each) => each.key)).toEqual(['key', 'key'])
  // It is dropped, and the next call gets its own.
  first.resolve({ verificationCode: 'FIRST' })
  expect((await setEmail({ 'idempotency-key': 'other' })).ok).toMatchObject({ verificationCode: 'SECOND' })
})

test.each([
  ['REQUEST_UNDER_WAY', 'ABORTED'],
  ['SERVICE_UNAVAILABLE', 'UNAVAILABLE'],
] as const)('%s in answer to the second request is not told: the first answer is awaited', async (reason, code) => {
  const first = Promise.withResolvers<JsonObject>()
  await start((n) => {
    if (n === 0) return first.promise
    setTimeout(() => first.resolve({ verificationCode: 'FIRST' }), 300)
    throw new RosterError(code, reason, 'Not by this one.')
  })
  expect((await setEmail(key)).ok).toMatchObject({ verificationCode: 'FIRST' })
  expect(asked).toHaveLength(2)
})

test('what checks a secret or waits for events, a write without a key, and one of a stranger are never asked again', async () => {
  await start(never)
  const password = { oldPassword: 'Secret-4-ada', newPassword: 'Secret-5-ada' }
  const answers = await Promise.all([
    ask('UpdateMyPassword', password, { ...key, ...brief }),
    setEmail(brief),
    ask('CreateSession', { loginName: 'ada', password: 'Secret-4-ada' }, { ...key, ...brief }, ''),
    ask('SearchEvents', { waitSeconds: 9 }, brief),
  ])
  for (const { error } of answers) expect(error).toMatchObject({ code: codes.DEADLINE_EXCEEDED })
  expect(asked.map(({ name }) => name.split('.').at(-1)!).toSorted()).toEqual([
    'CreateSession',
    'SearchEvents',
    'SetEmail',
    'UpdateMyPassword',
  ])
})

test('a service that is silent altogether gets ten requests more, and then one for each hundred calls', async () => {
  await start(never)
  const answers = await Promise.all(Array.from({ length: 40 }, () => getUser(brief)))
  for (const { error } of answers) expect(error).toMatchObject({ code: codes.DEADLINE_EXCEEDED })
  expect(asked).toHaveLength(40 + 10)
})
