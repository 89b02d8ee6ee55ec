import { describe, expect, test } from 'vitest'
import { type ConsoleBrowser, reasonOf } from './console-browser.ts'
import { ownOrganization, type Person } from './console-house.ts'
import { ada, browser, house, session } from './stage.ts'

export function signingIn(): void {
  describe('signing in:', () => {
    test('leads back to the page, asks nobody for consent, and leaves two cookies that no script and no other site can use', async () => {
      const { browser, shown } = await house.signIn(await house.newPerson())
      expect(shown.path).toBe('/ui/console/o/x/people?sort=name')
      expect(browser.set.get('__Host-roster-console')).toMatch(
        /^__Host-roster-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      expect(browser.set.get('__Host-roster-console-tx')).toMatch(
        /^__Host-roster-console-tx=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
      )
      const [authorize] = browser.locations.map((location) => new URL(location, house.publicUrl))
      const sent = Object.fromEntries(authorize!.searchParams)
      expect(sent).toMatchObject({
        code_challenge_method: 'S256',
        redirect_uri: `${house.publicUrl}/ui/console/callback`,
      })
      expect(sent['nonce']).toMatch(/^[\w-]{43}$/)
      const stored = JSON.stringify(await house.sql`select * from tokens`)
      for (const value of browser.jar.values()) expect(stored).not.toContain(value)
    })

    test('a page of the console learns who it is, and until when', async () => {
      const { body, headers } = await browser.session()
      expect(body).toMatchObject({
        session,
        userId: ada.userId,
        displayName: 'Ada L.',
        organizationId: ada.organizationId,
      })
      expect(body).toMatchObject({ hasRole: true, loginName: ada.name })
      const minutes = (text: string) => Math.round((Date.parse(text) - Date.now()) / 60_000)
      expect([minutes(body.freshUntil), minutes(body.endsAt)]).toEqual([10, 30])
      expect(headers.get('cache-control')).toBe('no-store')
      expect((await browser.call(ownOrganization, session)).body.organization.id).toBe(ada.organizationId)
    })

    test('tabs sign in side by side, whichever ends first', async () => {
      const fresh = house.openBrowser()
      const [one, two] = [
        await fresh.visit('/ui/console/sign-in?to=/ui/console/a'),
        '/ui/console/sign-in?to=/ui/console/b',
      ]
      expect(one.body).toContain('name="password"')
      expect((await house.signIn(ada, fresh, '/ui/console/b')).shown.path).toBe('/ui/console/b')
      expect((await fresh.visit(two)).path).toBe('/ui/console/b')
      expect((await fresh.visit(one.path)).status).toBe(200)
    })

    test.each([
      ['another host', 'https://evil.example/ui/console'],
      ['another host without scheme', '//evil.example/ui/console'],
      ['a backslash', '/\\evil.example'],
      ['another page', '/ui/account'],
      ['another page by dots', '/ui/console/../login/x'],
      ['itself', '/ui/console/sign-in?to=%2Fui%2Fconsole%2Fsign-in'],
      ['the callback', '/ui/console/%2e%2e/console/callback'],
      ['a script', 'javascript:alert(1)'],
      ['what is too long', `/ui/console/${'x'.repeat(1600)}`],
    ])('a link to %s leads to the beginning of the console', async (_, to) => {
      expect((await browser.visit(`/ui/console/sign-in?to=${encodeURIComponent(to)}`)).path).toBe('/ui/console')
    })

    test('who wants to go to the beginning gets to the console, and without a role to the own account', async () => {
      const start = '/ui/console/sign-in?to=%2F'
      expect((await browser.visit(start)).path).toBe('/ui/console')
      const nobody = await house.newPerson([])
      const { browser: other } = await house.signIn(nobody)
      expect((await other.visit(start)).path).toBe('/ui/account')
    })

    test('a callback without the cookie of its sign-in opens nothing: it begins again, once, and then says so', async () => {
      const [stolen] = await codeOf(ada)
      const other = house.openBrowser()
      const shown = await other.visit(stolen)
      expect(shown.body).toContain('name="password"')
      expect(other.jar.has('__Host-roster-console')).toBe(false)
      const none = await fetch(house.url + new URL(other.locations[0]!, house.publicUrl).pathname, {
        redirect: 'manual',
      })
      expect(none.status).toBe(303)
      const again = new URL(none.headers.get('location')!).searchParams.get('state')!
      // `again` of the link marks its state.
      const second = await fetch(`${house.url}/ui/console/sign-in?again=1`, { redirect: 'manual' })
      const marked = new URL(second.headers.get('location')!).searchParams.get('state')!
      expect(again).not.toBe(marked)
      const failed = await fetch(`${house.url}/ui/console/callback?code=c&state=${marked}`, { redirect: 'manual' })
      expect(failed.status).toBe(400)
      expect(await failed.text()).toContain('/ui/console/sign-in?to=%2Fui%2Fconsole')
    })

    test('a code opens one session, and not for another sign-in of the same browser', async () => {
      const [callback, at] = await codeOf(ada)
      const first = await at.visit(callback)
      expect(first.status).not.toBe(400)
      expect((await at.visit(callback)).status).toBe(400)
      // What the first use opened is over as well: somebody has the code who should not.
      expect(reasonOf(await at.session())).toBe('401 CONSOLE_SESSION_ENDED')
      const [another, place] = await codeOf(ada)
      const url = new URL(another, house.publicUrl)
      const { searchParams: other } = new URL((await authorizeOf(place)).location)
      url.searchParams.set('state', other.get('state')!)
      expect((await place.visit(url.pathname + url.search)).status).toBe(400)
    })

    test('nobody is asked for consent, whatever the link says', async () => {
      const { browser: at } = await house.signIn(ada)
      const { location } = await authorizeOf(at)
      const { pathname, search } = new URL(location)
      const headers = { cookie: at.cookies() }
      const answer = await fetch(`${house.url}${pathname}${search}&prompt=consent`, { redirect: 'manual', headers })
      expect(answer.headers.get('location')).toContain('/ui/console/callback?code=')
    })

    test('no token endpoint gives tokens for a code of the console', async () => {
      const [callback] = await codeOf(ada)
      const code = new URL(callback, house.publicUrl).searchParams.get('code')!
      const form = {
        grant_type: 'authorization_code',
        client_id: 'roster-console',
        code,
        code_verifier: 'v'.repeat(43),
        redirect_uri: `${house.publicUrl}/ui/console/callback`,
      }
      const answer = await fetch(`${house.url}/oauth/v2/token`, { method: 'POST', body: new URLSearchParams(form) })
      expect([answer.status, ((await answer.json()) as any).error]).toEqual([400, 'invalid_client'])
    })

    /** A callback that nobody has followed yet, and its browser. */
    async function codeOf(person: Person): Promise<[string, ConsoleBrowser]> {
      const at = (await house.signIn(person)).browser
      const { location } = await authorizeOf(at)
      const { pathname, search } = new URL(location)
      const answer = await fetch(house.url + pathname + search, {
        redirect: 'manual',
        headers: { cookie: at.cookies() },
      })
      const back = new URL(answer.headers.get('location')!)
      return [back.pathname + back.search, at]
    }

    async function authorizeOf(at: ConsoleBrowser) {
      const headers = { cookie: at.cookies() }
      const begun = await fetch(`${house.url}/ui/console/sign-in`, { redirect: 'manual', headers })
      return { location: begun.headers.get('location')! }
    }
  })
}
