import { beforeAll, describe, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { newAskingApplication } from '../../examples/person-tokens.ts'
import { newMember, newOrganization, ok, signIn } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newCode, openBrowser } from '../../examples/sign-in.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let home: string
let applications: ExampleApplication[]
beforeAll(async () => {
  home = await newOrganization()
  const projectId = await newProject(home)
  applications = [await newAskingApplication(home, projectId), await newAskingApplication(home, projectId)]
  applications.sort((one, other) => (one.appId < other.appId ? -1 : 1))
})

const reason = (answer: Answer) => factsOf(answer).reason

describe.each(over('connect'))('over $encoding', ({ call }) => {
  test('what a person has given applications is found and taken back, by the person and by who manages the person', async () => {
    const person = await newMember(home, [])
    const browser = openBrowser()
    for (const application of applications) await newCode(person, application, { scope: 'openid email' }, browser)
    const { userId } = person
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const find = async (as: { token: string }, more = {}) =>
      ok(await call('SearchUserConsents', { userId, ...more }, as))
    const { consents, total, nextCursor } = await find(person, { limit: 1, withTotal: true })
    expect(total).toBe(2)
    const rest = await find(person, { limit: 1, cursor: nextCursor })
    expect([...consents, ...rest.consents]).toEqual(
      applications.map(({ appId }) => ({
        applicationId: appId,
        appId,
        applicationName: expect.stringMatching(/^Application-/),
        scopes: ['openid', 'email'],
        givenDate: expect.any(String),
      })),
    )
    expect(rest.nextCursor ?? '').toBe('')
    expect((await find(manager)).consents).toHaveLength(2)
    // Nobody else, and no cursor of another caller.
    const [beside, abroad] = [await newMember(home, []), await newMember(await newOrganization(), ['ORG_OWNER'])]
    const [first, second] = applications.map(({ appId }) => ({ userId, appId }))
    for (const stranger of [beside, abroad]) {
      expect(reason(await call('SearchUserConsents', { userId }, stranger))).toBe('PERMISSION_DENIED')
      expect(reason(await call('WithdrawConsent', first, stranger))).toBe('PERMISSION_DENIED')
    }
    const stolen = { userId, limit: 1, cursor: nextCursor }
    expect(reason(await call('SearchUserConsents', stolen, manager))).toBe('CURSOR_INVALID')
    ok(await call('WithdrawConsent', first, { token: await signIn(person) }))
    expect((await find(person)).consents).toEqual(rest.consents)
    ok(await call('WithdrawConsent', second, manager))
    expect((await find(person)).consents ?? []).toEqual([])
    expect(reason(await call('WithdrawConsent', second, manager))).toBe('CONSENT_NOT_FOUND')
    // A manager takes nothing from those who may do more.
    const owner = await newMember(home, ['ORG_OWNER'])
    const ofOwner = { ...first!, userId: owner.userId }
    expect(reason(await call('WithdrawConsent', ofOwner, manager))).toBe('PERMISSION_DENIED')
  })
})
