import { headers } from 'nats'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  AddMachineUserResponse,
  SetEmailRequest,
  SetEmailResponse,
  VerifyEmailRequest,
} from '#gen/roster/users/v1/user_service'
import { limitReached, RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import { permissionDenied } from '#lib/rpc/authorize'
import { callOf, owner } from '../support/rpc.ts'
import { startTestMetrics } from '../support/metrics.ts'
import { startTracing } from '../support/tracing.ts'
import { added, failure, machine, subject, useServing } from '../support/serving.ts'

const read = startTestMetrics()
const serving = useServing()
const { start, stop, send } = serving
let order: string[]

beforeEach(() => {
  order = []
})

const email = (userId: string, address = 'a@example.com') =>
  SetEmailRequest.encode({ userId, email: address, verification: undefined }).finish()

describe('an operation', () => {
  test('gets the request and all fields of the call, and its answer comes back', async () => {
    let seen: unknown[] = []
    await start({ addMachineUser: async (...args: unknown[]) => ((seen = args), added) })
    const call = callOf(owner, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
    const answer = await send('AddMachineUser', machine({ description: 'ünïcödé' }), call)
    expect(AddMachineUserResponse.decode(answer.bytes).userId).toBe('made')
    expect(seen[1]).toMatchObject({ userName: 'robot', description: 'ünïcödé' })
    expect(seen[2]).toEqual(call)
  })

  test('belongs to the trace of its caller, and begins none by itself', async () => {
    await start({ addMachineUser: async () => added })
    const tracing = await startTracing()
    await send('AddMachineUser', machine(), callOf(owner))
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await send('AddMachineUser', machine(), callOf(owner, { traceparent }))
    expect(await tracing.spans()).toMatchObject([
      {
        name: 'roster.users.v1.UserService/AddMachineUser',
        kind: 'server',
        traceId: '0af7651916cd43dd8448eb211c80319c',
        parentId: 'b7ad6b7169203331',
        attributes: { 'rpc.system.name': 'nats', 'rpc.status_code': 'OK' },
      },
    ])
  })

  test('throws an error that reaches the caller whole, except for its cause', async () => {
    const details = {
      metadata: { today: '7' },
      violations: [{ field: 'a.b[1]', description: 'is wrong' }],
      retryAfter: 3,
    }
    const thrown = new RosterError('RESOURCE_EXHAUSTED', 'CODE_THROTTLED', 'Später.', { ...details, cause: 'secret' })
    await start({ addMachineUser: () => Promise.reject(thrown) })
    const error = await failure(send('AddMachineUser', machine()))
    expect(error).toMatchObject({ code: 8, reason: 'CODE_THROTTLED', message: 'Später.', ...details })
    expect(error.cause).toBeUndefined()
    expect(serving.lines).toEqual([])
  })

  test('whose error is about a limit counts it under its name', async () => {
    const limit = limitReached('project.roles', 100, 'Too many.')
    const thrown = [limit, limit, new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too many.')]
    await start({ addMachineUser: () => Promise.reject(thrown.pop()) })
    for (let n = 0; n < 3; n++) await failure(send('AddMachineUser', machine()))
    expect(await read('roster.limit.hits')).toMatchObject({ 'project.roles': 2, STORE_OVERLOADED: 1, caller: 0 })
  })

  test.each([
    ['an Error', () => Promise.reject(new Error('secret detail'))],
    ['at once', () => { throw new Error('secret detail') }], // prettier-ignore
    ['a string', () => Promise.reject('secret detail')],
    ['undefined', () => Promise.reject(undefined)],
    ['null', () => Promise.reject(null)],
    ['an object without a prototype', () => Promise.reject(Object.create(null))],
    ['nothing, and answers nothing', () => Promise.resolve(undefined)],
  ])('that fails with a foreign error (%s) reveals nothing of it to the caller', async (_, addMachineUser) => {
    await start({ addMachineUser })
    const error = await failure(send('AddMachineUser', machine()))
    expect(error).toMatchObject({ code: 13, reason: 'INTERNAL', message: 'An internal error occurred.', metadata: {} })
    expect(serving.lines).toHaveLength(1)
    expect(serving.lines[0]).toContain('"requestId":"request-1"')
  })
})

describe('the order of the checks', () => {
  const spying = {
    permit() {
      order.push('permit')
    },
    check() {
      order.push('check')
      return []
    },
    async handle() {
      order.push('handle')
      return added
    },
  }
  const denied = { reason: 'PERMISSION_DENIED', code: 7 }
  const stranger = { ...owner, organizationRoles: {} }

  test('is permission, permit, validation, handler', async () => {
    await start({ addMachineUser: spying })
    await send('AddMachineUser', machine())
    expect(order).toEqual(['permit', 'check', 'handle'])
  })

  test('without a token: 16, before all other checks', async () => {
    await start({ addMachineUser: spying })
    expect(await failure(send('AddMachineUser', machine({ userName: '' }), callOf(anonymous)))).toMatchObject({
      code: 16,
      reason: 'TOKEN_MISSING',
    })
    expect(order).toEqual([])
  })

  test('without the permission: 7, even if the request is invalid too', async () => {
    await start({ addMachineUser: spying })
    expect(await failure(send('AddMachineUser', machine({ userName: '' }), callOf(stranger)))).toMatchObject(denied)
    expect(order).toEqual([])
  })

  test('in an organization where the caller has no role: 7', async () => {
    await start({ addMachineUser: spying })
    const call = callOf(owner, { organizationId: 'elsewhere' })
    expect(await failure(send('AddMachineUser', machine(), call))).toMatchObject(denied)
  })

  test('where permit refuses: 7, even if the request is invalid too', async () => {
    await start({
      addMachineUser: {
        ...spying,
        permit: () => {
          throw permissionDenied()
        },
      },
    })
    expect(await failure(send('AddMachineUser', machine({ userName: '' })))).toMatchObject(denied)
    expect(order).toEqual([])
  })

  test('where an asynchronous permit refuses: 7, and nothing is done before', async () => {
    const permit = async () => Promise.reject(permissionDenied())
    await start({ addMachineUser: { ...spying, permit } })
    expect(await failure(send('AddMachineUser', machine({ userName: '' })))).toMatchObject(denied)
    expect(order).toEqual([])
  })

  test('for an invalid request: 3, with the violations of the contract and of the operation together', async () => {
    const check = () => [{ field: 'name', description: 'is odd' }]
    await start({ addMachineUser: { ...spying, check } })
    const error = await failure(send('AddMachineUser', machine({ userName: '', description: 'x'.repeat(501) })))
    expect(error).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED' })
    expect(error.violations.map(({ field }) => field)).toEqual(['userName', 'description', 'name'])
    expect(order).toEqual(['permit'])
  })

  test('after the deadline: 4, and nothing is done', async () => {
    await start({ addMachineUser: spying })
    const call = headers()
    call.set('roster-deadline', String(Date.now() - 1))
    const { headers: marked } = await serving.gateway.connection.request(subject('AddMachineUser'), machine(), {
      headers: call,
      timeout: 5000,
    })
    expect(marked?.get('roster-error')).toBe('DEADLINE_EXCEEDED')
    expect(order).toEqual([])
  })
})

describe('an operation on an object', () => {
  const owners = {
    user_id: async (_: object, id: string) => {
      order.push(id)
      if (id.includes('\0')) throw new Error('PostgreSQL cannot hold this')
      return {
        arthur: { userId: 'arthur', organizationId: 'house' },
        guest: { userId: 'guest', organizationId: 'other' },
      }[id]
    },
  }
  const handle = async () => ({ details: undefined, verificationCode: undefined })
  let held: boolean | undefined
  const setEmail = { permit: (_r: unknown, _c: unknown, holds: boolean) => void (held = holds), handle }
  const guest = { ...owner, userId: 'guest', organizationId: 'other', organizationRoles: {} }

  beforeEach(() => start({ setEmail }, { owners }))

  test('of one’s own organization needs the permission there, whichever organization is acting', async () => {
    const answer = await send('SetEmail', email('arthur'), callOf(owner, { organizationId: 'other' }))
    expect(SetEmailResponse.decode(answer.bytes)).toEqual({ details: undefined, verificationCode: undefined })
    expect(held).toBe(true)
  })

  test('that is the caller’s own needs no permission, and the operation learns that it is not held', async () => {
    await send('SetEmail', email('guest'), callOf(guest))
    expect(held).toBe(false)
  })

  test('that is foreign is refused like one that does not exist', async () => {
    const errors = await Promise.all(['guest', 'no-one', ''].map((id) => failure(send('SetEmail', email(id)))))
    expect(new Set(errors.map(({ code, reason, message }) => JSON.stringify([code, reason, message]))).size).toBe(1)
    expect(errors[0]).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
  })

  test('with an id that no database can hold is refused like a missing one, and is not looked up', async () => {
    expect(await failure(send('SetEmail', email('a\0b')))).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
    expect(order).toEqual([])
  })

  test('on the whole instance is open to IAM_OWNER, and the operation itself reports a missing object', async () => {
    const root = { ...anonymous, userId: 'root', instanceRoles: ['IAM_OWNER'] }
    await send('SetEmail', email('no-one'), callOf(root))
    expect(held).toBe(true)
    expect(await failure(send('SetEmail', email('a\0b'), callOf(root)))).toMatchObject({ code: 3 })
  })

  test('may be public, so that no caller needs a token', async () => {
    await stop()
    await start({ verifyEmail: async () => ({ details: undefined }) })
    await send(
      'VerifyEmail',
      VerifyEmailRequest.encode({ userId: 'x', verificationCode: 'y' }).finish(),
      callOf(anonymous),
    )
  })
})
