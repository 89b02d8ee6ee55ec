import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Authenticator } from '../../../services/users/sessions/factors/passkey/testing/authenticator.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { enterByPasskey, registerPasskey } from '../../examples/passkey-sessions.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, formOf, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { comeBack, newProvider, press, proveAt, setPolicy } from '../idps/at-provider.ts'

// Whoever gets the code of an invitation could accept it in place of the person, and wait until that one has a role.

const { house, url } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
let upstream: PeopleUpstream
let client: { token: string }

beforeAll(async () => {
  if (!house) return
  ;[upstream, client] = await Promise.all([startPeopleUpstream(secret), newOrganization().then(newLoginClient)])
})
afterAll(() => upstream?.stop())

const reasonOf = (answer: Awaited<ReturnType<typeof call>>) => (answer.error ? factsOf(answer).reason! : 'in')
const soon = { timeout: 1000 }

async function newPlace(more: object) {
  const home = await newOrganization()
  const idpId = await newProvider(upstream, secret, home)
  const application = await newWebApplication(home, await newProject(home))
  await setPolicy(home, { identityProviders: { idpIds: [idpId] }, ...more })
  const { token } = await newMember(home, ['ORG_USER_MANAGER'])
  return { home, idpId, application, manager: { token, organization: home } }
}
type Place = Awaited<ReturnType<typeof newPlace>>

const give = (userId: string, { home }: Place) =>
  call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home))

async function open(id: string, code: string) {
  recordSecret(code)
  const browser = openBrowser()
  return { browser, page: await browser.submit(await browser.visit(`/ui/invitation/${id}`), { code }) }
}

type Inviter = Place['manager'] | ReturnType<typeof admin>

const kinds: [string, (place: Place, by: Inviter) => Promise<{ id: string; code: string }>][] = [
  [
    'of a new person',
    async ({ application }, by) => {
      const request = { email: uniqueEmail(), appId: application.appId, returnLink: {} }
      const { invitationId: id, link } = ok(await call('AddInvitation', request, by))
      return { id, code: new URLSearchParams(new URL(link).hash.slice(1)).get('code')! }
    },
  ],
  [
    'of a user',
    async ({ home }, by) => {
      const { userId: id } = await newHuman(home)
      return { id, code: ok(await call('CreateInviteCode', { userId: id, returnCode: {} }, by)).inviteCode }
    },
  ],
]

const names = { given_name: 'Grace', family_name: 'Hopper' }

async function acceptByProvider({ idpId }: Place, { id, code }: { id: string; code: string }) {
  const { browser, page } = await open(id, code)
  upstream.person = { sub: unique('sub'), claims: { ...names, preferred_username: 'grace@there' } }
  await browser.submit(await comeBack(upstream, browser, await press(browser, page, idpId)), names)
  return browser
}

async function acceptByPasskey({ id, code }: { id: string; code: string }) {
  const { browser, page } = await open(id, code)
  const device = new Authenticator(url)
  const options = JSON.parse(readText(/data-options="([^"]+)"/.exec(page.body)![1]!))
  await browser.submit(page, { ...names, credential: JSON.stringify(device.create(options)), password: '' })
  return { browser, device }
}

const isAtAccount = async (browser: ReturnType<typeof openBrowser>) =>
  formOf((await browser.visit('/ui/account')).body, '/ui/account/profile') !== undefined

describe.skipIf(!house)(`an invitation${why}`, () => {
  describe.each(kinds)('%s whose code a user manager got', (_, invite) => {
    test('makes a link to a provider that does not sign in a user with a role', async () => {
      const place = await newPlace({ allowUsernamePassword: false })
      const invited = await invite(place, place.manager)
      const browser = await acceptByProvider(place, invited)
      const isIn = () => isAtAccount(browser)
      const entersAnew = async () => {
        const other = openBrowser()
        const leaving = await other.visit(authorizePath(place.application))
        const { location, body } = await comeBack(upstream, other, leaving)
        return `${location}${body}`.includes('code=')
      }
      expect([await isIn(), await entersAnew()]).toEqual([true, true])
      ok(await give(invited.id, place))
      await expect.poll(async () => [await isIn(), await entersAnew()], soon).toEqual([false, false])
    })

    test('makes a passkey that counts for nothing, nor its sessions nor what they set up, once a role is beyond theirs', async () => {
      const place = await newPlace({ allowPasskeys: true })
      const invited = await invite(place, place.manager)
      const { browser, device } = await acceptByPasskey(invited)
      const { sessionToken: token } = ok(await enterByPasskey(client, invited.id, device))
      const second = await registerPasskey(invited.id, { token })
      const isIn = () => isAtAccount(browser)
      expect([await isIn(), reasonOf(await call('GetMyUser', {}, { token }))]).toEqual([true, 'in'])
      ok(await give(invited.id, place))
      await expect.poll(async () => reasonOf(await call('GetMyUser', {}, { token })), soon).not.toBe('in')
      await expect.poll(isIn, soon).toBe(false)
      for (const one of [device, second]) expect(reasonOf(await enterByPasskey(client, invited.id, one))).not.toBe('in')
    })

    test('makes a passkey whose sessions count for nothing then, also once it is gone', async () => {
      const place = await newPlace({ allowPasskeys: true })
      const { home } = place
      const invited = await invite(place, place.manager)
      const userId = invited.id
      const { device } = await acceptByPasskey(invited)
      ok(await call('SetPassword', { userId, newPassword: { password: unique('Password') } }, admin(home)))
      const { sessionToken: token } = ok(await enterByPasskey(client, userId, device))
      const [{ id: passkeyId }] = ok(await call('ListPasskeys', { userId }, admin(home))).passkeys
      ok(await call('RemovePasskey', { userId, passkeyId }, admin(home)))
      const bySession = async () => reasonOf(await call('GetMyUser', {}, { token }))
      expect(await bySession()).toBe('in')
      ok(await give(userId, place))
      await expect.poll(bySession, soon).not.toBe('in')
    })

    test('makes a passkey in whose sessions no link is made that counts then', async () => {
      const place = await newPlace({ allowPasskeys: true })
      const invited = await invite(place, place.manager)
      const { device } = await acceptByPasskey(invited)
      ok(await enterByPasskey(client, invited.id, device))
      upstream.person = { sub: unique('sub'), claims: names }
      const prove = () => proveAt(upstream, place.idpId, client)
      ok(await call('AddIDPLink', { userId: invited.id, idpIntent: await prove() }, client))
      const lacking = async () => {
        const { sessionToken, missingFactors } = ok(await call('CreateSession', { idpIntent: await prove() }, client))
        recordSecret(sessionToken)
        return missingFactors ?? []
      }
      expect(await lacking()).toEqual([])
      ok(await give(invited.id, place))
      await expect.poll(lacking, { timeout: 5000 }).not.toEqual([])
    })

    test('counts on where an administrator of the instance got the code', async () => {
      const place = await newPlace({ allowPasskeys: true })
      const invited = await invite(place, admin(place.home))
      const { device } = await acceptByPasskey(invited)
      ok(await give(invited.id, place))
      const { sessionToken: token } = ok(await enterByPasskey(client, invited.id, device))
      expect(reasonOf(await call('GetMyUser', {}, { token }))).toBe('in')
    })
  })
})
