import { hash } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { drawPng } from '#test/support/browsers/png'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call, over } from '../clients/encodings.ts'

const { url } = inject('roster')
let home: string
beforeAll(async () => {
  home = await newOrganization()
})

describe.each(over('json'))('the login policy over $encoding', ({ call }) => {
  test('what an organization does not set is as the instance has it, and what nobody sets has its default', async () => {
    const organization = await newOrganization()
    const owner = await newMember(organization, ['ORG_OWNER'])
    const holds = async () => {
      const { policy, settings } = ok(await call('GetLoginPolicy', {}, owner))
      return [policy?.passwordCheckLifetime, settings?.passwordCheckLifetime]
    }
    expect(ok(await call('GetLoginPolicy', {}, owner)).details).toBeUndefined()
    const [whole] = await holds()
    // Other tests see the instance's, too: this one changes nothing for them.
    const [nearly, little] = ['43199s', '60s']
    ok(await call('UpdateInstanceLoginPolicy', { settings: { passwordCheckLifetime: nearly } }, admin()))
    expect(await holds()).toEqual([nearly, undefined])
    const { details } = ok(await call('UpdateLoginPolicy', { settings: { passwordCheckLifetime: little } }, owner))
    expect(details).toMatchObject({ sequence: '1', resourceOwner: organization })
    expect(await holds()).toEqual([little, little])
    ok(await call('ResetInstanceLoginPolicy', {}, admin()))
    expect(ok(await call('GetInstanceLoginPolicy', {}, admin())).policy?.passwordCheckLifetime).toBe(whole)
    const longer = { settings: { passwordCheckLifetime: '120s' } }
    expect(ok(await call('UpdateLoginPolicy', longer, owner)).details.sequence).toBe('2')
    expect(await holds()).toEqual(['120s', '120s'])
    ok(await call('ResetLoginPolicy', {}, owner))
    expect(await holds()).toEqual([whole, undefined])
    // Nothing to change, and nothing changed.
    expect(ok(await call('ResetLoginPolicy', {}, owner)).details.sequence).toBe('3')
  })

  test('only who manages the organization, or the instance, sets it', async () => {
    const [owner, manager] = [await newMember(home, ['ORG_OWNER']), await newMember(home, ['ORG_USER_MANAGER'])]
    for (const operation of ['GetLoginPolicy', 'UpdateLoginPolicy', 'ResetLoginPolicy'] as const)
      expect(factsOf(await call(operation, {}, manager)).reason).toBe('PERMISSION_DENIED')
    for (const about of ['GetInstance', 'UpdateInstance', 'ResetInstance'] as const)
      expect(factsOf(await call(`${about}LoginPolicy`, {}, owner)).reason).toBe('PERMISSION_DENIED')
  })

  test('what is not built yet, and what has no effect, is refused by the name of its field', async () => {
    const refused = async (settings: JsonObject) =>
      factsOf(await call('UpdateLoginPolicy', { settings }, admin(home))).fields
    expect(await refused({ allowUsernamePassword: false, defaultRedirectUri: 'http://a.example' })).toEqual(
      expect.arrayContaining(['settings.allowUsernamePassword', 'settings.defaultRedirectUri']),
    )
    expect(await refused({ passwordCheckLifetime: '864000s' })).toEqual(['settings.passwordCheckLifetime'])
    expect(await refused({ defaultRedirectUri: 'http://example.com' })).toEqual(['settings.defaultRedirectUri'])
    const lightTheme = { primaryColor: '#777777', backgroundColor: 'red' }
    const colors = async (theme: JsonObject) =>
      factsOf(await call('UpdateLoginPolicy', { settings: { brand: { lightTheme: theme } } }, admin(home)))
    expect((await colors(lightTheme)).fields).toEqual(['settings.brand.lightTheme.backgroundColor'])
    const { fields, violations } = await colors({ primaryColor: '#777777' })
    expect([fields, JSON.stringify(violations)]).toEqual([
      ['settings.brand.lightTheme.primaryColor'],
      expect.stringContaining('4.47'),
    ])
    expect(await refused({ brand: { cornerRadius: 33 } })).toEqual(['settings.brand.cornerRadius'])
    const picture = drawPng().toString('base64')
    expect(await refused({ brand: { darkLogo: picture } })).toEqual(['settings.brand.darkLogo'])
    expect(await refused({ brand: { icon: 'AAAA' } })).toEqual(['settings.brand.icon'])
    // What is so may be said.
    ok(await call('UpdateLoginPolicy', { settings: { forceMfa: false, allowUsernamePassword: true } }, admin(home)))
    const { policy, settings } = ok(await call('GetLoginPolicy', {}, admin(home)))
    expect([policy.allowUsernamePassword, policy.forceMfa ?? false, settings ?? {}]).toEqual([
      true,
      false,
      { forceMfa: false },
    ])
    const set = { hidePasswordReset: true, defaultRedirectUri: 'https://example.com/', passwordCheckLifetime: '3600s' }
    const brand = {
      lightTheme: { primaryColor: '#7a1fa2' },
      darkTheme: { backgroundColor: '#101418' },
      cornerRadius: 0,
    }
    ok(await call('UpdateLoginPolicy', { settings: { ...set, brand } }, admin(home)))
    const kept = ok(await call('GetLoginPolicy', {}, admin(home)))
    expect(kept).toMatchObject({ policy: { ...set, brand }, settings: { ...set, brand } })
    expect(ok(await call('UpdateLoginPolicy', { settings: kept.settings }, admin(home))).details.sequence).toBe(
      kept.details.sequence,
    )
  })

  test('a logo is written anew, served by its content, and gone with its policy', async () => {
    const [organization, other] = [await newOrganization(), await newOrganization()]
    const set = (logo: Buffer, acting = organization) =>
      call('UpdateLoginPolicy', { settings: { brand: { logo: logo.toString('base64') } } }, admin(acting))
    // No other file has this one: each of them is served to everybody.
    const file = drawPng({ width: 10, pixels: Buffer.alloc(88, 3), before: [['tEXt', Buffer.from('<script>')]] })
    expect(factsOf(await set(file.subarray(0, -20))).fields).toEqual(['settings.brand.logo'])
    expect(factsOf(await set(Buffer.alloc(65_537))).fields).toEqual(['settings.brand.logo'])
    ok(await set(file))
    const kept = ok(await call('GetLoginPolicy', {}, admin(organization)))
    const logo = Buffer.from(kept.policy.brand.logo as string, 'base64')
    expect([logo.includes('<script>'), kept.settings.brand.logo]).toEqual([false, kept.policy.brand.logo])
    // What is sent back changes nothing.
    expect(ok(await set(logo)).details.sequence).toBe('1')
    const fetchLogo = (hashed: Buffer) => fetch(`${url}/ui/logo/${hash('sha256', hashed, 'base64url')}`)
    const answer = await fetchLogo(logo)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await answer.arrayBuffer()).equals(logo)).toBe(true)
    expect((await fetchLogo(file)).status).toBe(404)
    // Another organization's is its own, also if it is the same.
    expect(ok(await call('GetLoginPolicy', {}, admin(other))).policy.brand).toBeUndefined()
    ok(await set(logo, other))
    ok(await set(drawPng({ width: 9, pixels: Buffer.alloc(80) })))
    expect((await fetchLogo(logo)).status).toBe(200)
    ok(await call('ResetLoginPolicy', {}, admin(other)))
    expect((await fetchLogo(logo)).status).toBe(404)
    // Of three pictures each is kept by itself, and goes by itself.
    const pictures = [1, 2, 3].map((grey) => drawPng({ width: 7, pixels: Buffer.alloc(64, grey) }).toString('base64'))
    const brand = { logo: pictures[0]!, darkLogo: pictures[1]!, icon: pictures[2]! }
    ok(await call('UpdateLoginPolicy', { settings: { brand } }, admin(organization)))
    const three = ok(await call('GetLoginPolicy', {}, admin(organization))).settings.brand
    const files = Object.values(three).map((file) => Buffer.from(file as string, 'base64'))
    const statuses = async () => (await Promise.all(files.map(fetchLogo))).map(({ status }) => status)
    expect([Object.keys(three).toSorted(), await statuses()]).toEqual([
      ['darkLogo', 'icon', 'logo'],
      [200, 200, 200],
    ])
    ok(await call('UpdateLoginPolicy', { settings: { brand: { logo: brand.logo } } }, admin(organization)))
    expect((await statuses()).toSorted((one, other) => one - other)).toEqual([200, 404, 404])
    const last = ok(await call('GetLoginPolicy', {}, admin(organization))).policy.brand.logo as string
    ok(await call('RemoveOrganization', { orgId: organization }, admin()))
    await expect.poll(async () => (await fetchLogo(Buffer.from(last, 'base64'))).status).toBe(404)
  })
})

test('who ticks the box keeps the cookie, and nobody else does', async () => {
  const organization = await newOrganization()
  const projectId = await newProject(organization)
  const [application, person] = await Promise.all([
    newWebApplication(organization, projectId),
    newHuman(organization, { password: unique('Password') }),
  ])
  const owner = await newMember(organization, ['ORG_OWNER'])
  const visit = () => openBrowser().visit(authorizePath(application))
  expect((await visit()).body).not.toContain('name="keep"')
  const settings = { keepSignedIn: 'KEEP_SIGNED_IN_ALLOWED' }
  ok(await call('UpdateLoginPolicy', { settings }, owner))
  expect(ok(await call('GetLoginPolicy', {}, owner))).toMatchObject({ policy: settings, settings })
  await expect.poll(async () => (await visit()).body).toContain('name="keep"')
  const cookieOf = async (keep: object) => {
    const browser = openBrowser()
    const { userName: login_name, password } = person
    const page = await browser.visit(authorizePath(application))
    const shown = await browser.submit(page, { action: 'sign-in', login_name, password, ...keep })
    return { ...shown, cookie: browser.setCookie() }
  }
  expect((await cookieOf({ keep: 'on' })).cookie).toMatch(/; Max-Age=2592000;/)
  expect((await cookieOf({})).cookie).toMatch(/^[\w-]+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  expect((await cookieOf({ keep: 'yes' })).status).toBe(400)
})
