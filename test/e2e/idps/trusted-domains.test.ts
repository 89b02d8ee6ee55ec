import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { addressesFollowed } from '../../examples/followed-addresses.ts'
import {
  admin,
  getUser,
  newHuman,
  newMember,
  newOrganization,
  ok,
  profile,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailsTo } from '../mailbox.ts'
import { claimsOf, comeBy, errorOf, leadsTo, newProvider, press, setPolicy } from './at-provider.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const patient = { timeout: 15_000, interval: 500 }

const secret = unique('idp-secret')
const newDomain = () => `${unique('d')}.example`
const domain = newDomain()
const german = `bücher-${unique('d')}.example`
let upstream: PeopleUpstream
let home: string
let manager: { token: string }
let application: ExampleApplication
/** Trusted for `domain`, and makes nobody; trusted for `german`, and makes users; listed, and trusted for nothing. */
let trusted: string
let making: string
let listed: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  ;[application, manager, trusted, making, listed] = await Promise.all([
    newProject(home).then((projectId) => newWebApplication(home, projectId)),
    newMember(home, ['ORG_OWNER']),
    newProvider(upstream, secret, home),
    newProvider(upstream, secret, home, { autoRegister: true }),
    newProvider(upstream, secret, home),
    confirm(home, domain),
    confirm(home, german),
  ])
  await setPolicy(home, policy())
  // Users has heard of the domains once the first one is known there.
  const ada = await worded(`${unique('ada')}@${domain}`)
  await vi.waitFor(async () => expect(await userBy(trusted, ada.email)).toBe(ada.userId), patient)
}, 60_000)
afterAll(() => upstream?.stop())

const policy = () => ({
  identityProviders: {
    idpIds: [trusted, making, listed],
    domains: [
      { domain: domain.toUpperCase(), idpId: trusted, trusted: true },
      { domain: german, idpId: making, trusted: true },
    ],
  },
})

async function confirm(orgId: string, name: string) {
  ok(await call('ConfirmOrganizationDomain', { orgId, domain: name }, admin()))
}

/** Somebody with this address, by the word of a manager of the organization alone. */
async function worded(email: string) {
  const userName = unique('human')
  const { userId } = ok(await call('AddHumanUser', { userName, profile, email: { email, isVerified: true } }, manager))
  return { userId: userId as string, email, userName }
}

/** Whom the upstream signs in next. */
function setPerson(email: string, more: object = { email_verified: true }, sub = unique('sub')) {
  upstream.person = { sub, claims: { email, given_name: 'Ada', family_name: 'Lovelace', ...more } }
  return sub
}

/** As whom a provider signs in who has this address there, or what the page says. */
async function userBy(idpId: string, email: string, more?: object, to = application, parameters = {}) {
  setPerson(email, more)
  const { shown } = await comeBy(upstream, to, idpId, parameters)
  const error = errorOf(shown)
  return error === '' ? ((await claimsOf(to, shown))['sub'] as string) : error
}

const unknown = expect.stringContaining('No account here is connected')
const linksOf = async (userId: string) => ok(await call('ListIDPLinks', { userId }, admin(home))).links ?? []

describe.skipIf(!house)(`a provider that an organization trusts for a domain that it proved${why}`, () => {
  test('signs in the account that has the address, which is told by mail, and links it for good', async () => {
    const ada = await worded(`Ada.${unique('a')}@${domain}`)
    await addressesFollowed(home)
    const sub = setPerson(ada.email.toUpperCase())
    const { shown } = await comeBy(upstream, application, trusted)
    expect((await claimsOf(application, shown))['sub']).toBe(ada.userId)
    expect(await linksOf(ada.userId)).toEqual([expect.objectContaining({ idpId: trusted, userId: sub })])
    const { events } = ok(
      await call('SearchOrganizationEvents', { filter: { aggregateIds: [ada.userId] } }, admin(home)),
    )
    const linked = events.find(({ type }: { type: string }) => type.startsWith('roster.user.idp.linked'))
    expect(linked).toMatchObject({ data: { idpId: trusted, domain } })
    if (hasMailbox())
      await vi.waitFor(
        async () =>
          expect((await mailsTo(ada.email)).map(({ text }) => text).join()).toContain('/ui/account/providers'),
        { timeout: 20_000 },
      )
    // The link is by the subject from then on, whatever the address is.
    setPerson(uniqueEmail(), {}, sub)
    const again = await comeBy(upstream, application, trusted)
    expect((await claimsOf(application, again.shown))['sub']).toBe(ada.userId)
    // Another subject with the same address there, such as of who has it next, is somebody else.
    expect(await userBy(trusted, ada.email)).toEqual(unknown)
  })

  test('links a domain in each of its spellings, and makes users whose address is proved', async () => {
    const bob = await worded(`${unique('bob')}@${german}`)
    await addressesFollowed(home)
    const inAscii = `${bob.email.split('@')[0]}@${new URL(`http://${german}`).host}`
    expect(await userBy(making, inAscii)).toBe(bob.userId)
    const made = await getUser(await userBy(making, `${unique('eve')}@${german}`))
    expect(made.human.email.isVerified).toBe(true)
    // What the provider does not say is proved by nothing, and what somebody has already neither.
    const said = await getUser(await userBy(making, `${unique('eve')}@${german}`, {}))
    expect(said.human.email.isVerified).toBeFalsy()
    const elsewhere = await getUser(await userBy(making, `${unique('eve')}@${domain}`))
    expect(elsewhere.human.email.isVerified).toBeFalsy()
    const again = await getUser(await userBy(making, bob.email))
    expect(again.userId).not.toBe(bob.userId)
    expect(again.human.email.isVerified).toBeFalsy()
  })

  test('connects the right person once a wrong link was removed, also of who has no password', async () => {
    const ada = await worded(`${unique('ada')}@${domain}`)
    await addressesFollowed(home)
    expect(await userBy(trusted, ada.email)).toBe(ada.userId)
    const [{ userId: linkedUserId }] = await linksOf(ada.userId)
    // Whoever has the address at the provider next is not let in, until an administrator says so.
    expect(await userBy(trusted, ada.email)).toEqual(unknown)
    ok(await call('RemoveIDPLink', { userId: ada.userId, idpId: trusted, linkedUserId }, admin(home)))
    expect(await userBy(trusted, ada.email)).toBe(ada.userId)
    expect((await linksOf(ada.userId))[0].userId).not.toBe(linkedUserId)
  })

  test('makes no second account for who is deactivated or locked, or has a role, who connects the own one', async () => {
    const at = () => `${unique('bob')}@${german}`
    const [off, locked, chief] = await Promise.all([worded(at()), worded(at()), worded(at())])
    ok(await call('DeactivateUser', { userId: off.userId }, admin(home)))
    ok(await call('LockUser', { userId: locked.userId }, admin(home)))
    ok(await call('AddOrganizationMember', { userId: chief.userId, roles: ['ORG_OWNER_VIEWER'] }, admin(home)))
    await addressesFollowed(home)
    const shutOut = expect.stringContaining('cannot sign in here in this way')
    for (const { email } of [off, locked]) expect.soft(await userBy(making, email)).toEqual(shutOut)
    expect.soft(await userBy(making, chief.email)).toEqual(unknown)
    // Nor on a page that was shown before.
    const email = at()
    setPerson(email, { email_verified: true, given_name: undefined })
    const { browser, shown } = await comeBy(upstream, application, making)
    expect(shown.body).toContain('Complete your account')
    ok(await call('DeactivateUser', { userId: (await worded(email)).userId }, admin(home)))
    await addressesFollowed(home)
    const filled = { action: 'register', given_name: 'Ada', family_name: 'Lovelace', email: uniqueEmail() }
    expect(errorOf(await browser.submit(shown, filled))).toEqual(shutOut)
    for (const { email, userId } of [off, locked, chief]) {
      const queries = [{ emailQuery: { emailAddress: email } }]
      const { users } = ok(await call('SearchUsers', { queries }, admin(home)))
      expect(users.map((one: { userId: string }) => one.userId)).toEqual([userId])
    }
  })

  test('gives one of several new people with one address, who come at once, an address that is proved', async () => {
    const email = `${unique('new')}@${german}`
    const leaving = []
    for (const _ of Array(3)) {
      setPerson(email)
      const browser = openBrowser()
      const there = await press(browser, await browser.visit(authorizePath(application)), making)
      const back = await upstream.visit(leadsTo(there))
      leaving.push({ browser, back })
    }
    const made = await Promise.all(
      leaving.map(async ({ browser, back }) => {
        const shown = await browser.visit(back.pathname + back.search)
        return getUser((await claimsOf(application, shown))['sub'] as string)
      }),
    )
    expect(made.filter(({ human }) => human.email.isVerified)).toHaveLength(1)
  })

  test('links nobody of an organization that is closed', async () => {
    const [mine, theirs] = [newDomain(), await newOrganization()]
    const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: secret, issuer: upstream.url }
    const { idpId } = ok(await call('AddOIDCIDP', settings, admin()))
    await confirm(theirs, mine)
    const entry = { domain: mine, idpId, trusted: true }
    await setPolicy(theirs, { identityProviders: { idpIds: [idpId], domains: [entry] } })
    const other = await newOrganization()
    const app = await newWebApplication(other, await newProject(other))
    await setPolicy(other, { identityProviders: { idpIds: [idpId] } })
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map((name) => newHuman(theirs, { email: `${unique(name)}@${mine}` })),
    )
    // Open, though without a grant of that project.
    await vi.waitFor(async () => {
      setPerson(ada!.email)
      await comeBy(upstream, app, idpId)
      expect(ok(await call('ListIDPLinks', { userId: ada!.userId }, admin(theirs))).links).toHaveLength(1)
    }, patient)
    ok(await call('DeactivateOrganization', {}, admin(theirs)))
    setPerson(bob!.email)
    const { shown } = await comeBy(upstream, app, idpId)
    expect(errorOf(shown)).not.toBe('')
    ok(await call('ReactivateOrganization', {}, admin(theirs)))
    expect(ok(await call('ListIDPLinks', { userId: bob!.userId }, admin(theirs))).links ?? []).toEqual([])
    ok(await call('RemoveIDP', { idpId }, admin()))
  })

  test('links nobody by less than all of it', async () => {
    const at = (name = domain) => `${unique('kada')}@${name}`
    const [plain, spelled, below, admins, ofProject, ofInstance, twice, left] = await Promise.all([
      worded(at()),
      worded(at()),
      worded(at(`sub.${domain}`)),
      worded(at()),
      worded(at()),
      worded(at()),
      worded(at()),
      worded(at()),
    ])
    const open = at()
    ok(await call('AddHumanUser', { userName: unique('human'), profile, email: { email: open } }, manager))
    await worded(twice.email)
    const other = await newOrganization()
    const projectId = await newProject(home)
    ok(await call('AddOrganizationMember', { userId: admins.userId, roles: ['ORG_OWNER'] }, admin(home)))
    const asViewer = { userId: ofProject.userId, projectId, roles: ['PROJECT_OWNER_VIEWER'] }
    ok(await call('AddProjectMember', asViewer, admin(home)))
    ok(await call('AddInstanceMember', { userId: ofInstance.userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    ok(await call('SetEmail', { userId: left.userId, email: uniqueEmail(), isVerified: false }, admin(home)))
    const foreign = await newHuman(other, { email: at() })
    await addressesFollowed(home)
    try {
      expect.soft(await userBy(listed, plain.email)).toEqual(unknown)
      expect.soft(await userBy(trusted, plain.email, {})).toEqual(unknown)
      expect.soft(await userBy(trusted, plain.email, { email_verified: false })).toEqual(unknown)
      const wide = spelled.email.replace('ada', 'ａda')
      // Lower case makes a `k` of it.
      const kelvin = spelled.email.replace('k', '\u212A')
      for (const email of [
        open,
        wide,
        kelvin,
        ...[below, admins, ofProject, ofInstance, twice, left, foreign].map((one) => one.email),
      ])
        expect.soft([email, await userBy(trusted, email)]).toEqual([email, unknown])
      const scope = `openid profile urn:zitadel:iam:org:id:${home}`
      expect.soft(await userBy(trusted, plain.email, undefined, application, { scope })).toBe(plain.userId)
    } finally {
      ok(await call('RemoveInstanceMember', { userId: ofInstance.userId }, admin()))
    }
  })

  test('of another organization links nobody, and a domain that another one has verified belongs to that alone', async () => {
    const [mine, theirs] = [newDomain(), await newOrganization()]
    const idpId = await newProvider(upstream, secret, theirs)
    const app = await newWebApplication(theirs, await newProject(theirs))
    await confirm(home, mine)
    const ada = await worded(`${unique('ada')}@${mine}`)
    const attack = { idpIds: [idpId], domains: [{ domain: mine, idpId, trusted: true }] }
    await setPolicy(theirs, { identityProviders: attack })
    // The domain is not theirs; nor does their provider count in the list of those who have it.
    expect(await userBy(idpId, ada.email, undefined, app)).toEqual(unknown)
    const entry = { domain: mine, idpId: trusted, trusted: true }
    await setPolicy(home, {
      identityProviders: { ...policy().identityProviders, domains: [...policy().identityProviders.domains, entry] },
    })
    // The application of another organization takes its own people alone.
    const scope = `openid profile urn:zitadel:iam:org:id:${theirs}`
    expect(await userBy(idpId, ada.email, undefined, app, { scope })).toEqual(unknown)
    await vi.waitFor(async () => expect(await userBy(trusted, ada.email)).toBe(ada.userId), patient)
    const bob = await worded(`${unique('bob')}@${mine}`)
    ok(await call('RemoveOrganizationDomain', { domain: mine }, admin(home)))
    await confirm(theirs, mine)
    const eve = await newHuman(theirs, { email: `${unique('eve')}@${mine}` })
    await vi.waitFor(async () => expect(await userBy(idpId, eve.email, undefined, app)).toBe(eve.userId), patient)
    expect(await userBy(trusted, bob.email)).toEqual(unknown)
    expect(await userBy(idpId, bob.email, undefined, app)).toEqual(unknown)
    await setPolicy(home, policy())
  })

  test('is one of the listed ones, and a domain has one', async () => {
    const set = (domains: JsonObject[]) =>
      call('UpdateLoginPolicy', { settings: { identityProviders: { idpIds: [trusted], domains } } }, admin(home))
    const wrong = async (domains: JsonObject[]) => factsOf(await set(domains)).fields
    expect(await wrong([{ domain, idpId: listed }])).toEqual(['settings.identityProviders.domains[0].idpId'])
    for (const name of ['example', '10.0.0.1', 'a b.example', `ada@${domain}`])
      expect(await wrong([{ domain: name, idpId: trusted }])).toEqual(['settings.identityProviders.domains[0].domain'])
    const both = [domain, `${domain.toUpperCase()}.`].map((name) => ({ domain: name, idpId: trusted }))
    expect(await wrong(both)).toEqual(['settings.identityProviders.domains[1].domain'])
    const { settings, policy: now } = ok(await call('GetLoginPolicy', {}, admin(home)))
    const stored = [
      { domain, idpId: trusted, trusted: true },
      { domain: new URL(`http://${german}`).host, idpId: making, trusted: true },
    ]
    expect([settings.identityProviders.domains, now.providerDomains]).toEqual([stored, stored])
  })
})
