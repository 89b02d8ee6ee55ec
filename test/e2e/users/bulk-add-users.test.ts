import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newMember, newOrganization, ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as callOnce, over } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'

let organization: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  organization = await newOrganization()
  manager = await newMember(organization, ['ORG_USER_MANAGER'])
})

const times = (n: number) => Array.from({ length: n }, (_, index) => index)
const machine = (chosen: object = {}): any => ({ machine: { userName: unique('machine'), name: 'M', ...chosen } })
const human = (email: object = { email: uniqueEmail(), isVerified: true }, chosen: object = {}): any => ({
  human: { userName: unique('human'), profile, email, ...chosen },
})
const reasonOf = ({ error }: any) => error && error.details[0].reason
const tally = (results: any[]) =>
  Object.fromEntries([...Map.groupBy(results, (one) => reasonOf(one) ?? 'done')].map(([one, all]) => [one, all.length]))

describe.each(over('grpc-web'))('BulkAddUsers over $encoding', ({ call }) => {
  const add = (users: object[], options: object = manager) => call('BulkAddUsers', { users } as never, options)
  const results = async (users: object[], options: object = manager) => ok(await add(users, options)).results

  test('creates humans and machines in the acting organization, each with its result in their order', async () => {
    const users = [machine({ description: 'Sorts', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }), human()]
    const [first, second] = await results(users)
    expect(first.index).toBeUndefined()
    expect(second.index).toBe(1)
    expect(await getUser(first.done.id)).toEqual({
      userId: first.done.id,
      details: first.done.details,
      state: 'USER_STATE_ACTIVE',
      userName: users[0].machine.userName,
      organizationId: organization,
      machine: { name: 'M', description: 'Sorts', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' },
    })
    const { human: made, details } = await getUser(second.done.id)
    expect(made).toMatchObject({ profile, email: { isVerified: true } })
    expect(details).toEqual(second.done.details)
    expect(details).toMatchObject({ sequence: '1', resourceOwner: organization })
  })

  test('refuses only the users whose name or id is taken, with the error of the single operation', async () => {
    const [userId, userName] = [unique('id'), unique('name')]
    const users = [
      machine({ userId, userName }),
      machine({ userName: userName.toUpperCase() }),
      human(undefined, { userId }),
      machine({ userId: manager.userId }),
      human(undefined, { userName: manager.userName }),
      machine(),
    ]
    const outcome = await results(users)
    expect(outcome.map(reasonOf)).toEqual([
      undefined,
      'USER_NAME_TAKEN',
      'USER_ID_TAKEN',
      'USER_ID_TAKEN',
      'USER_NAME_TAKEN',
      undefined,
    ])
    const { error } = await callOnce('AddMachineUser', users[1].machine, manager)
    expect(outcome[1].error).toEqual(error)
  })

  test('mails the codes, gives those that were asked for, and each verifies its address', async () => {
    const [mailed, returned] = [uniqueEmail(), uniqueEmail()]
    const [first, second] = await results([human({ email: mailed }), human({ email: returned, returnCode: {} })])
    expect(first.done.emailCode).toBeUndefined()
    const { id: userId, emailCode: verificationCode } = second.done
    ok(await callOnce('VerifyEmail', { userId, verificationCode }))
    ok(await callOnce('VerifyEmail', { userId: first.done.id, verificationCode: (await mailTo(mailed)).code }))
  })

  test('counts each mail: only the humans beyond the limit of an address are refused', async () => {
    const email = uniqueEmail()
    const outcome = await results([...times(7).map(() => human({ email })), human(), machine()])
    expect(outcome.map(reasonOf)).toEqual([
      ...times(5).map(() => undefined),
      'MAILS_THROTTLED',
      'MAILS_THROTTLED',
      undefined,
      undefined,
    ])
    expect(outcome[6].error).toMatchObject({ code: 8 })
    expect(outcome[6].error.details.map((detail: any) => detail['@type'])).toContain(
      'type.googleapis.com/google.rpc.RetryInfo',
    )
  })

  test('refuses the whole request for the faults of fields, and names them all', async () => {
    const userName = unique('machine')
    const users = [
      machine({ userName }),
      {},
      machine({ userName: '' }),
      human({ email: 'none' }, { profile: { firstName: 'A' } }),
      human({ email: uniqueEmail(), sendCode: { urlTemplate: 'ftp://x' } }, { password: 'long enough' }),
    ]
    expect(factsOf(await add(users))).toMatchObject({
      code: 3,
      fields: [
        'users[1].user',
        'users[2].machine.userName',
        'users[3].human.profile.lastName',
        'users[3].human.email.email',
        'users[4].human',
        'users[4].human.email.sendCode.urlTemplate',
      ],
    })
    expect((await results([machine({ userName })]))[0].done).toBeDefined()
    expect(factsOf(await add([]))).toMatchObject({ code: 3, fields: ['users'] })
    expect(factsOf(await add(times(1001).map(() => machine())))).toMatchObject({ code: 3, fields: ['users'] })
  })

  test('takes a thousand large users, and the answer fits', async () => {
    const users = times(1000).map((n) =>
      n % 2 === 0
        ? human(
            { email: `${unique('m')}@${'x'.repeat(60)}.example.com`, returnCode: {} },
            { userId: unique('i'.repeat(180)), profile: { ...profile, nickName: 'N'.repeat(200) } },
          )
        : machine({ userId: unique('i'.repeat(180)), description: 'd'.repeat(200) }),
    )
    expect(tally(await results(users, admin(organization)))).toEqual({ done: 1000 })
    expect(tally(await results(users, admin(organization)))).toEqual({ USER_ID_TAKEN: 1000 })
  })
})
