import { headers } from 'nats'
import { describe, expect, test } from 'vitest'
import { AddMachineUserResponse } from '#gen/roster/users/v1/user_service'
import { invalid } from '#lib/errors'
import { callOf, owner } from '../support/rpc.ts'
import { added, failure, machine, subject, useServing } from '../support/serving.ts'

const serving = useServing()
const { start, stop, send } = serving

describe('a malformed call', () => {
  test.each([
    ['bytes that are no protobuf', Uint8Array.of(0xff, 0xff, 0xff)],
    ['a field that ends too early', Uint8Array.of(0x0a, 0x05, 0x61)],
    ['a string that is no UTF-8', Uint8Array.of(0x0a, 0x02, 0xc3, 0x28)],
    ['half a surrogate pair', Uint8Array.of(0x0a, 0x03, 0xed, 0xa0, 0x80)],
    ['a field of the wrong wire type', Uint8Array.of(0x0d, 1, 2, 3, 4)],
    ['an endless varint', new Uint8Array(100).fill(0x80)],
  ])('is refused: %s', async (_, bytes) => {
    await start({ addMachineUser: async () => added })
    const error = await failure(send('AddMachineUser', bytes))
    expect(error).toMatchObject({ code: 3 })
    expect(serving.lines).toEqual([])
  })

  test.each([
    ['roster-caller', '{broken', 'CALLER_NOT_SIGNED'],
    ['roster-caller', 'null', 'CALLER_NOT_SIGNED'],
    ['roster-caller', '{}', 'CALLER_NOT_SIGNED'],
    ['roster-caller', '{"userId":"x"}', 'CALLER_NOT_SIGNED'],
    ['roster-deadline', 'soon', 'TOKEN_MISSING'],
  ])('is answered and does not end the service: header %s: %s', async (name, value, reason) => {
    await start({ addMachineUser: async () => added })
    const broken = headers()
    broken.set(name, value)
    const answer = await serving.gateway.connection.request(subject('AddMachineUser'), machine(), {
      headers: broken,
      timeout: 5000,
    })
    expect(answer.headers?.get('roster-error')).toBe(reason)
    await send('AddMachineUser', machine())
  })

  test('no one can use the name of an object’s built-in property as a role', async () => {
    await start({ addMachineUser: async () => added })
    for (const organizationId of ['__proto__', 'constructor', 'toString']) {
      const call = callOf(owner, { organizationId })
      expect(await failure(send('AddMachineUser', machine(), call))).toMatchObject({ reason: 'PERMISSION_DENIED' })
    }
  })
})

test('an answer too large for the broker is an error for the caller and the log; the service survives', async () => {
  const { max_payload: most } = serving.users.connection.info!
  let size = most + 1
  await start({
    addMachineUser: async () => ({ userId: 'x'.repeat(size), details: undefined }),
    searchUsers: async () => ({ users: [], nextCursor: 'x'.repeat(size) }),
  })
  const refusals = [await failure(send('AddMachineUser', machine())), await failure(send('SearchUsers', Buffer.of()))]
  expect(refusals.map(({ reason, message }) => [reason, message.includes('carried out')])).toEqual([
    ['ANSWER_TOO_LARGE', true],
    ['ANSWER_TOO_LARGE', false],
  ])
  expect(serving.lines).toEqual(Array(2).fill(expect.stringContaining('MAX_PAYLOAD_EXCEEDED')))
  size = 1
  await send('AddMachineUser', machine())
})

test('of many violations, the caller gets the first hundred', async () => {
  const check = () => Array.from({ length: 5000 }, (_, index) => ({ field: `a[${index}]`, description: 'is odd' }))
  await start({ addMachineUser: { check, handle: async () => added } })
  expect((await failure(send('AddMachineUser', machine()))).violations).toHaveLength(100)
})

test('stop refuses new calls and finishes those under way', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<typeof added>()
  await start({ addMachineUser: () => (begun.resolve(), finish.promise) })
  const work = send('AddMachineUser', machine())
  await begun.promise
  let stopped = false
  const stopping = stop().then(() => (stopped = true))
  await expect
    .poll(() => failure(send('AddMachineUser', machine(), callOf(owner, { deadline: Date.now() + 200 }))))
    .toMatchObject({ code: 14, reason: 'SERVICE_UNAVAILABLE' })
  expect(stopped).toBe(false)
  finish.resolve(added)
  expect(AddMachineUserResponse.decode((await work).bytes).userId).toBe('made')
  await stopping
})

test('several violations that an operation itself throws reach the caller too', async () => {
  const violations = [{ field: 'verificationCode', description: 'is wrong' }]
  await start({ addMachineUser: () => Promise.reject(invalid(violations, 'CODE_INVALID')) })
  expect(await failure(send('AddMachineUser', machine()))).toMatchObject({
    code: 3,
    reason: 'CODE_INVALID',
    violations,
  })
})
