import { describe, expect, test } from 'vitest'
import { type ConsoleBrowser, reasonOf } from './console-browser.ts'
import { me, ownOrganization, type Person } from './console-house.ts'
import { ada, house } from './stage.ts'

export function ends(): void {
  describe('it ends', () => {
    test('with a sign-out in the console, which takes the cookie back and ends the sign-in', async () => {
      const { browser, session } = await house.signIn(ada)
      expect(reasonOf(await browser.post('/ui/console/sign-out', { 'roster-console-session': 'other' }))).toBe(
        '409 CONSOLE_SESSION_OTHER',
      )
      expect(reasonOf(await browser.post('/ui/console/sign-out', { origin: 'https://evil.example' }))).toBe(
        '403 ORIGIN_REFUSED',
      )
      expect((await browser.call(me, session)).status).toBe(200)
      const kept = browser.cookies()
      expect((await browser.post('/ui/console/sign-out', { 'roster-console-session': session })).status).toBe(200)
      expect(browser.jar.has('__Host-roster-console')).toBe(false)
      await expect
        .poll(async () => reasonOf(await browser.call(me, session, {}, { cookie: kept })), { timeout: 1500 })
        .toBe('401 CONSOLE_SESSION_ENDED')
      expect((await browser.visit('/ui/console/sign-in')).body).toContain('name="password"')
    })

    test.each<[string, (person: Person) => Promise<unknown>]>([
      ['a lock', ({ userId }) => house.act('LockUser', { userId })],
      [
        'a deactivation of the organization',
        ({ organizationId }) => house.act('DeactivateOrganization', {}, organizationId),
      ],
      ['a removal', ({ userId }) => house.act('DeleteUser', { userId })],
      ['an end of all sessions', ({ userId }) => house.act('DeleteUserSessions', { userId })],
      ['a new password', ({ userId }) => house.act('SetPassword', { userId, password: `another-${userId}` })],
    ])('within a second with %s, an open stream, too', async (_, end) => {
      const person = await house.newPerson()
      const { browser: at, session: of } = await house.signIn(person)
      const stream = openStream(at, of)
      await stream.opened
      await end(person)
      await expect
        .poll(async () => reasonOf(await at.call(me, of)), { timeout: 1500 })
        .toBe('401 CONSOLE_SESSION_ENDED')
      expect(await stream.last).toContain('CONSOLE_SESSION_ENDED')
    })

    test('with a lost role for whatever needs it', async () => {
      const person = await house.newPerson()
      const { browser: at, session: of } = await house.signIn(person)
      expect((await at.call(ownOrganization, of)).status).toBe(200)
      await house.act('RemoveOrganizationMember', { userId: person.userId }, person.organizationId)
      await expect.poll(async () => (await at.call(ownOrganization, of)).status, { timeout: 1500 }).toBe(403)
      expect((await at.session()).body.hasRole).toBe(false)
    })

    /** A stream of events in the console. `last`: its last frame. */
    function openStream(at: ConsoleBrowser, of: string) {
      const message = Buffer.from(JSON.stringify({ fromEnd: true }))
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      const opened = fetch(`${house.url}/roster.notifier.v1.EventService/WatchOrganizationEvents`, {
        method: 'POST',
        headers: at.own({ 'content-type': 'application/connect+json', 'roster-console-session': of }),
        body: Buffer.concat([head, message]),
      })
      return { opened, last: opened.then((answer) => answer.text()) }
    }
  })
}
