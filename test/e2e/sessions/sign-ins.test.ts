import { beforeAll, describe, expect, test } from 'vitest'
import { admin, type ExampleHuman, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newCode, newWebApplication } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
const people: ExampleHuman[] = []

beforeAll(async () => {
  home = await newOrganization()
  abroad = await newOrganization()
  for (const organization of [home, home, abroad])
    people.push(await newHuman(organization, { password: unique('Password') }))
})

const signIn = ({ userName: loginName, password }: ExampleHuman, wrong = '') =>
  json('CreateSession', { loginName, password: `${password}${wrong}` })

describe.each(over('connect'))('the sign-ins of an organization over $encoding', ({ call }) => {
  test('are those of its people, the newest first, by person, and by application', async () => {
    const [ada, bob, eve] = people as [ExampleHuman, ExampleHuman, ExampleHuman]
    const search = async (more: object = {}, organization = home) => {
      const { signIns = [] } = ok(await call('SearchSignIns', { ...more }, admin(organization)))
      return signIns.map(({ userId, signIn }: any) => [userId, signIn.applicationId ?? ''])
    }
    const application = await newWebApplication(home, await newProject(home))
    for (const person of [ada, bob, eve]) ok(await signIn(person))
    await newCode(ada, application)
    const { appId } = application
    const all = await search()
    expect(all.slice(0, 3)).toEqual([
      [ada.userId, appId],
      [bob.userId, ''],
      [ada.userId, ''],
    ])
    expect(await search({ userId: bob.userId })).toEqual(all.filter(([userId]: string[]) => userId === bob.userId))
    expect(await search({ applicationId: appId })).toEqual([[ada.userId, appId]])
    expect((await search({}, abroad))[0]).toEqual([eve.userId, ''])
    expect(await search({ userId: ada.userId }, abroad)).toEqual([])
    const { signIns, nextCursor, total } = ok(await call('SearchSignIns', { limit: 1, withTotal: true }, admin(home)))
    expect([signIns.length, total]).toEqual([1, all.length])
    expect(signIns[0].signIn).toMatchObject({
      factors: ['AUTHENTICATION_METHOD_TYPE_PASSWORD'],
      client: { address: expect.any(String) },
    })
    expect(await search({ cursor: nextCursor, limit: 1 })).toEqual([all[1]])
  })

  test('that failed are rows by hour, person and cause', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    const failures = async (organization = home) =>
      ok(await call('SearchSignInFailures', { userId: person.userId }, admin(organization))).failures ?? []
    for (let tries = 0; tries < 2; tries++) await signIn(person, 'wrong')
    await expect
      .poll(failures, { timeout: 15_000 })
      .toMatchObject([{ userId: person.userId, failures: { cause: 'SIGN_IN_FAILURE_CAUSE_PASSWORD_WRONG', count: 2 } }])
    expect(await failures(abroad)).toEqual([])
    const { failures: all } = ok(await call('SearchSignInFailures', {}, admin(home)))
    expect(all.map(({ userId }: { userId: string }) => userId)).toContain(person.userId)
  })

  test('are counted by the hour, with those that failed, and without those of others', async () => {
    const organization = await newOrganization()
    const count = async (hours = 0) => ok(await call('CountSignIns', { hours }, admin(organization))).hours
    const hours = await count()
    expect(hours).toHaveLength(24)
    const ends = hours.map(({ hour }: { hour: string }) => Date.parse(hour))
    expect(new Set(ends.slice(1).map((end: number, index: number) => end - ends[index]!))).toEqual(new Set([3_600_000]))
    const person = await newHuman(organization, { password: unique('Password') })
    for (let times = 0; times < 3; times++) ok(await signIn(person))
    await signIn(person, 'wrong')
    // The hour may end meanwhile.
    const sums = async () => {
      const all: { signIns?: number; failures?: number }[] = await count(2)
      return [
        all.length,
        ...(['signIns', 'failures'] as const).map((of) => all.reduce((sum, hour) => sum + (hour[of] ?? 0), 0)),
      ]
    }
    await expect.poll(sums, { timeout: 15_000 }).toEqual([2, 3, 1])
    const invalid = await call('CountSignIns', { hours: 169 }, admin(organization))
    expect(factsOf(invalid)).toMatchObject({ code: 3, fields: ['hours'] })
  })

  test('are gone with a person, and shown to nobody without user.read', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    ok(await signIn(person))
    const found = async () => ok(await call('SearchSignIns', {}, admin(home))).signIns ?? []
    const of = (one: { userId: string }) => one.userId === person.userId
    expect((await found()).filter(of)).toHaveLength(1)
    ok(await call('DeleteUser', { userId: person.userId }, admin(home)))
    expect((await found()).filter(of)).toHaveLength(0)
    const stranger = await newMember(home, [])
    for (const operation of ['SearchSignIns', 'SearchSignInFailures', 'CountSignIns'] as const)
      expect(factsOf(await call(operation, {}, stranger)).reason).toBe('PERMISSION_DENIED')
  })
})
