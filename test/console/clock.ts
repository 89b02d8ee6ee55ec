import { beforeEach, describe, expect, test } from 'vitest'
import { shiftClock } from '../support/shift-clock.ts'
import { type ConsoleBrowser, reasonOf } from './console-browser.ts'
import { me, page } from './console-house.ts'
import { ada, house } from './stage.ts'

const danger = 'users.v1.UserService/DeleteUser'
const notFresh = '400 FACTOR_NOT_FRESH'
const over = '401 CONSOLE_SESSION_ENDED'
/** What a gateway knows of a session is at most a second old. */
const soon = { timeout: 5000 }

export function clock(): void {
  describe('time:', () => {
    let browser: ConsoleBrowser
    let session: string
    /** Minutes that the clock is ahead, and was when the test began. */
    let [ahead, began] = [0, 0]

    async function passed(minutes: number): Promise<void> {
      ahead = began + minutes
      await shiftClock(house.sql, `${ahead} minutes`)
    }

    const tryMe = async () => reasonOf(await browser.call(me, session))
    const tryDanger = async () => reasonOf(await browser.call(danger, session, { userId: 'nobody' }))

    async function minutesLeft() {
      const [row] = await house.sql`
        select extract(epoch from expires_at - roster_now()) / 60 as left from tokens where authorization_id = ${session}
      `
      return Math.round(Number(row?.['left']))
    }

    beforeEach(async () => {
      began = ahead
      ;({ browser, session } = await house.signIn(ada))
    })

    test('half an hour without use ends it', async () => {
      await passed(29)
      expect((await browser.session()).status).toBe(200)
      await passed(31)
      await expect.poll(tryMe, soon).toBe(over)
      expect(reasonOf(await browser.session())).toBe(over)
    })

    test('a call is use; to ask who one is, is none', async () => {
      await passed(20)
      await browser.session()
      expect(await minutesLeft()).toBe(10)
      expect(await tryMe()).toBe('200')
      await expect.poll(minutesLeft).toBe(30)
    })

    test('with use it goes on, and twelve hours after its beginning it is over', async () => {
      for (let minutes = 25; minutes < 12 * 60; minutes += 25) {
        await passed(minutes)
        expect(await tryDanger()).toBe(notFresh)
      }
      await passed(12 * 60 - 1)
      expect(await tryDanger()).toBe(notFresh)
      expect(await minutesLeft()).toBe(1)
      await passed(12 * 60 + 1)
      await expect.poll(tryDanger, soon).toBe(over)
    })

    test('no application is added, changed or opened again by a session whose factor is older', async () => {
      const project = await house.act('AddProject', { name: `x-${ada.name}` }, ada.organizationId)
      const uri = 'https://evil.example/callback'
      const redirectUris = { redirectUris: [uri] }
      const app = { projectId: project.projectId, name: 'App', ...redirectUris }
      const { appId } = await house.act('AddOIDCApplication', { ...app, redirectUris: [] }, ada.organizationId)
      await house.act('DeactivateApplication', { projectId: app.projectId, appId }, ada.organizationId)
      const own = { projectId: app.projectId, appId }
      const calls: [string, object][] = [
        ['AddOIDCApplication', app],
        ['AddAPIApplication', { projectId: app.projectId, name: 'API' }],
        ['PatchApplication', { ...own, oidcConfig: redirectUris }],
        ['UpdateOIDCConfig', { ...own, ...redirectUris }],
        ['ReactivateApplication', own],
      ]
      const call = async ([name, request]: [string, object]) =>
        reasonOf(await browser.call(`grants.v1.ApplicationService/${name}`, session, request))
      await passed(11)
      for (const each of calls) expect([each[0], await call(each)]).toEqual([each[0], notFresh])
      const { applications } = await house.act('SearchApplications', { projectId: app.projectId }, ada.organizationId)
      expect(applications).toHaveLength(1)
      expect(JSON.stringify(applications)).not.toContain(uri)
      ;({ browser, session } = await house.signIn(ada, browser, page, `&fresh=1&person=${ada.userId}`))
      for (const each of calls) expect([each[0], await call(each)]).toEqual([each[0], '200'])
    })

    test('a danger needs a factor of the last ten minutes, and anything else does not; it is asked for again, of this person', async () => {
      const { organizationId, name } = ada
      const profile = { firstName: 'X', lastName: 'Y' }
      const email = { email: `x-${name}@example.com`, isVerified: true }
      const { userId } = await house.act('AddHumanUser', { userName: `x-${name}`, profile, email }, organizationId)
      await passed(9)
      expect(await tryDanger()).not.toBe(notFresh)
      await passed(11)
      expect(reasonOf(await browser.call(danger, session, { userId }))).toBe(notFresh)
      expect((await house.act('GetUser', { userId })).user.state).toBe('USER_STATE_ACTIVE')
      expect(await tryMe()).toBe('200')
      const more = `&fresh=1&person=${ada.userId}`
      const asked = await browser.visit(`/ui/console/sign-in?to=${encodeURIComponent(page)}${more}`)
      expect(asked.body).toContain('name="password"')
      const renewed = await house.signIn(ada, browser, page, more)
      expect(renewed.shown.path).toBe(page)
      expect(reasonOf(await browser.call(danger, session, { userId }))).toBe('409 CONSOLE_SESSION_OTHER')
      expect((await browser.call(danger, renewed.session, { userId })).status).toBe(200)
    })
  })
}
