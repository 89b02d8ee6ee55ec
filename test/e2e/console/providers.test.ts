import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { startLyingUpstream } from '#test/support/upstreams/lying-upstream'
import { type PeopleUpstream, startPeopleUpstream } from '#test/support/upstreams/people-upstream'
import { call } from '../clients/encodings.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { claimsOf, comeByProvider, identityOf, listProviders } from '../idps/provider-stage.ts'
import { expectAccessible, openConsole } from './console-page.ts'

const { house } = inject('roster')
const why = withoutChromium || (house ? '' : ' (skipped: it takes a Roster that reaches this machine)')
const evil = `"><img src=x onerror=alert(1)>`
const secret = unique('idp-secret')
let browser: Browser
let upstream: PeopleUpstream
let organization: string
let owner: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  if (why) return
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
  ;[browser, upstream] = await Promise.all([openChromium(), startPeopleUpstream(secret)])
})
afterAll(async () => {
  await Promise.all([browser?.close(), upstream?.stop()])
})

const rowsOf = (page: Page) => page.getByRole('table', { name: 'Identity providers' }).locator('tbody tr')
const said = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).waitFor()
const policyOf = async () => ok(await call('GetLoginPolicy', {}, admin(organization)))
const act = async (...[operation, request]: Parameters<typeof call>) =>
  ok(await call(operation, request, admin(organization)))

describe.skipIf(why)(`identity providers in Chromium${why}`, () => {
  test('a provider is added, tested and shown on the sign-in page, without the other settings of the policy', async () => {
    await act('UpdateLoginPolicy', { settings: { allowRegister: true, helpLink: 'https://help.example' } })
    const { page, faults } = await openConsole(browser, owner, '/people')
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByRole('link', { name: 'Identity providers' }).click()
    await page.getByText('There is no provider yet.').waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Where do people have their account?').selectOption('Another one, with OpenID Connect')
    await page.getByLabel('Name').fill(evil)
    await page.getByLabel('Issuer').fill('ftp://there')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Issuer must be an absolute https URL').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Issuer').fill(upstream.url)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('heading', { level: 1, name: evil }).waitFor()
    await page.getByText('not set up yet').waitFor()
    // It would lead to a provider that knows no such client.
    expect(await page.getByRole('button', { name: 'Show the button' }).isDisabled()).toBe(true)
    const [, idpId = ''] = /providers\/(\d+)$/.exec(page.url())!
    const { redirectUri } = await act('TestOrganizationIdentityProvider', { idpId })
    expect(await page.locator('.steps pre').textContent()).toBe(redirectUri)
    await page.getByRole('button', { name: 'Test it' }).click()
    await page.getByText('Nobody can sign in until this is fixed.').waitFor()
    await page.getByText('It knows no client with this id and this secret').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Client ID').fill('roster')
    await page.getByRole('button', { name: 'Save' }).click()
    // Neither of the two without the other.
    await page.getByText('Client secret must be at least 1 characters').waitFor()
    await page.getByLabel('Client secret').fill(secret)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.head').getByText('active').waitFor()
    await page.getByRole('button', { name: 'Test it' }).click()
    await said(page, /Everything is in order|look at what is doubtful/)
    await page.getByRole('button', { name: 'Try it' }).click()
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Go to the provider' }).click()
    const trial = await opened
    await trial.getByText('Ada').first().waitFor()
    await trial.close()
    await page.getByRole('button', { name: 'Try it' }).waitFor()
    await page.getByRole('button', { name: 'Show the button' }).click()
    await said(page, 'The sign-in page now shows the button of')
    await expectAccessible(page)
    const { settings } = await policyOf()
    expect(settings).toEqual({
      allowRegister: true,
      helpLink: 'https://help.example',
      identityProviders: { idpIds: [idpId] },
    })
    const application = await newWebApplication(organization, await newProject(organization))
    const shown = await openBrowser().visit(authorizePath(application))
    expect(readText(shown.body)).toContain(`Continue with <bdi>${evil}`)
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Identity providers' }).click()
    expect(await rowsOf(page).first().textContent()).toContain('button shown')
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.content()).not.toContain(secret)
    expect(faults).toEqual([])
  })

  test('each preset is asked for what it needs, in its own words, and makes the record that its documentation names', async () => {
    const { page, goto } = await openConsole(browser, owner, '/providers/new')
    const add = async (kind: string, fields: Record<string, string>) => {
      await goto('/providers/new')
      await page.getByLabel('Where do people have their account?').selectOption(kind)
      await page.getByLabel('Name').fill(unique(kind))
      for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text)
      await page.getByRole('button', { name: 'Next' }).click()
      await page.waitForURL(/providers\/\d+$/)
      await page.locator('.steps pre').first().waitFor()
      const { idp } = await act('GetOrganizationIDP', { idpId: /\d+$/.exec(page.url())![0] })
      return { ...idp, steps: (await page.locator('.steps').textContent())! }
    }
    const google = await add('Google', {})
    expect(google).toMatchObject({
      stylingType: 'STYLING_TYPE_GOOGLE',
      oidc: { preset: 'IDP_PRESET_GOOGLE', issuer: 'https://accounts.google.com' },
      steps: expect.stringContaining('Authorized redirect URI'),
    })
    const tenant = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490'
    const microsoft = await add('Microsoft', { 'Directory (tenant) ID': tenant })
    expect(microsoft.oidc).toMatchObject({
      preset: 'IDP_PRESET_MICROSOFT',
      issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
    })
    expect((await add('GitHub', { Server: 'github.acme.example' })).oauth).toMatchObject({
      preset: 'IDP_PRESET_GITHUB',
      tokenEndpoint: 'https://github.acme.example/login/oauth/access_token',
      userEndpoint: 'https://github.acme.example/api/v3/user',
      idAttribute: 'id',
    })
    expect((await add('GitLab', {})).oidc).toMatchObject({ issuer: 'https://gitlab.com', preset: 'IDP_PRESET_GITLAB' })
    const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
    const pem = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
    const apple = { 'Identifier of the Services ID': 'com.acme.sign-in', 'Team ID': 'TEAM', 'Key ID': 'KEY' }
    const key = `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`
    expect((await add('Apple', { ...apple, 'Private key': key })).oidc).toMatchObject({
      preset: 'IDP_PRESET_APPLE',
      clientId: 'com.acme.sign-in',
      appleKey: { teamId: 'TEAM', keyId: 'KEY' },
    })
    const jwt = { 'Issuer of the tokens': 'https://proxy.acme.example', 'Header with the token': 'x-token' }
    const urls = {
      'Sign-in address of the proxy': 'https://proxy.acme.example/in',
      'Address of its keys': 'https://proxy.acme.example/keys',
    }
    const byProxy = await add('A proxy that sends JSON Web Tokens', { ...jwt, ...urls })
    expect(byProxy.jwt).toMatchObject({ issuer: 'https://proxy.acme.example', headerName: 'x-token' })
    expect(byProxy.steps).toContain(`/idps/${byProxy.id}`)
  })

  test('a provider is changed, deactivated, and removed by its name', async () => {
    const name = unique('Acme')
    const config = { clientId: 'roster', clientSecret: secret, issuer: upstream.url, scopes: ['openid', 'email'] }
    const { idpId } = await act('AddOrganizationOIDCIDP', { name, ...config })
    const { page, goto, faults } = await openConsole(browser, owner, `/providers/${idpId}/settings`)
    const [general, connection] = [page.locator('form').nth(0), page.locator('form').nth(1)]
    await general.getByLabel('Name').fill(`${name} AG`)
    await general.getByLabel('Create an account at the first sign-in').check()
    await general.getByLabel('Let people check their profile first').check()
    await general.getByLabel('Do not connect existing accounts').check()
    await connection.getByLabel('Remove: email').click()
    await general.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: `${name} AG` }).waitFor()
    // The record has changed since this form was opened, in what it does not show.
    await connection.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => connection.getByRole('status').textContent()).toBe('')
    const read = async () => (await act('GetOrganizationIDP', { idpId })).idp
    const set = { name: `${name} AG`, autoRegister: true, asksFirst: true, refusesLinking: true }
    expect(await read()).toMatchObject({ ...set, oidc: { scopes: ['openid'] } })
    await connection.getByLabel('Remove: openid').click()
    await connection.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await read()).oidc.scopes ?? []).toEqual([])
    const claims = page.locator('form').nth(2)
    await claims.getByLabel('Update the profile at each sign-in').check()
    await claims.getByLabel('Email address', { exact: true }).fill('/contact')
    await claims.getByLabel('Language', { exact: true }).fill('-')
    await claims.getByLabel('Given name').fill('/a/b/c/d/e/f')
    await claims.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Given name does not match').waitFor()
    await claims.getByLabel('Given name').fill('first')
    await claims.getByLabel('amr, 1').fill('mfa')
    await claims.getByRole('button', { name: 'Save' }).click()
    const expected = { mapping: { givenName: 'first', email: '/contact', language: '' }, isAutoUpdate: true }
    await expect.poll(async () => (await read()).claims).toEqual({ ...expected, secondFactor: { amr: ['mfa'] } })
    const sessions = page.locator('form').nth(3)
    await sessions.getByLabel('Store the tokens').check()
    await sessions.getByLabel('Sign people out at the provider').check()
    await sessions.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await read()).sessions).toEqual({ keepTokens: true, logoutAtProvider: true })
    await page.getByRole('button', { name: 'Replace the secret' }).click()
    await page.getByRole('dialog').getByLabel('New secret').fill('another')
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click()
    await said(page, 'The secret is replaced.')
    await expectAccessible(page)
    await goto(`/providers/${idpId}/history`)
    await expect
      .poll(() => page.locator('.line > li').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringContaining('Settings changed'), expect.stringContaining('Added')]))
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Activate' }).click()
    await said(page, 'is active again.')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Remove …' }).click()
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByRole('dialog').getByRole('textbox').fill(`${name} AG`)
    await remove.click()
    await said(page, 'is removed.')
    await page.getByRole('heading', { level: 1, name: 'Identity providers' }).waitFor()
    expect(faults).toEqual([])
  })

  test('a provider keeps a redirect URI of ZITADEL, where it names itself in its answers', async () => {
    const lying = await startLyingUpstream()
    onTestFinished(() => lying.stop())
    const add = async (issuer: string) => {
      const config = { clientId: 'roster', clientSecret: secret, issuer, scopes: ['openid'] }
      return (await act('AddOrganizationOIDCIDP', { name: unique('Acme'), ...config })).idpId as string
    }
    const [idpId, silent] = [await add(upstream.url), await add(lying.url)]
    const { page, goto, faults } = await openConsole(browser, owner, `/providers/${idpId}/settings`)
    const choice = page.getByLabel('Redirect URI')
    const save = () => page.locator('form').nth(1).getByRole('button', { name: 'Save' }).click()
    for (const [index, path, callback] of [
      [1, '/idps/callback', 'IDP_CALLBACK_ZITADEL'],
      [0, `/ui/login/idps/${idpId}/callback`, 'IDP_CALLBACK_OWN'],
    ] as const) {
      await choice.selectOption({ index })
      await save()
      await expect.poll(async () => (await act('GetOrganizationIDP', { idpId })).idp.oidc.callback).toBe(callback)
      await page.getByRole('link', { name: 'Set up' }).click()
      await expect.poll(() => page.locator('.steps pre').first().textContent()).toMatch(new RegExp(`${path}$`))
      await page.getByRole('link', { name: 'Settings' }).click()
    }
    await goto(`/providers/${silent}/settings`)
    await choice.selectOption({ index: 1 })
    await save()
    await page.getByText('Redirect URI has to be its own').waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
  })

  test('a person is found by the provider: in sign-ins, refusals and Explain; and is disconnected', async () => {
    const name = unique('Found')
    const config = { clientId: 'roster', clientSecret: secret, issuer: upstream.url, autoRegister: true }
    const { idpId } = await act('AddOrganizationOIDCIDP', { name, ...config })
    await listProviders(organization, [idpId])
    const application = await newWebApplication(organization, await newProject(organization))
    const come = async () => (await comeByProvider({ application, upstream }, idpId)).shown
    upstream.person = { sub: unique('sub'), refuses: true }
    await come()
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const { sub: userId } = await identityOf(application, await come())
    await act('SetPassword', { userId, newPassword: { password: unique('Password') } })
    const { page, goto } = await openConsole(browser, owner, `/people/${userId}/sign-in`)
    await page.getByRole('table', { name: 'Sign-ins' }).getByText(name).waitFor()
    await expectAccessible(page)
    await goto(`/providers/${idpId}/people`)
    await page.getByRole('table', { name: 'People' }).getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await expectAccessible(page)
    await goto('/sign-ins')
    await page.getByRole('table', { name: 'Sign-ins' }).getByText(name).waitFor()
    await goto(`/projects/${application.projectId}/applications/${application.appId}/sign-ins`)
    await page.getByText('A sign-in at an identity provider failed.').first().waitFor()
    await page.getByText('The person cancelled there').first().waitFor()
    await goto(`/explain?person=${userId}&application=${application.appId}`)
    await page.getByText('The user is connected to it, and the page has its button.').waitFor()
    await expectAccessible(page)
    await goto(`/people/${userId}/sign-in`)
    await page.getByRole('button', { name: `Disconnect: ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await said(page, 'The provider is disconnected.')
    expect((await act('ListIDPLinks', { userId })).links ?? []).toEqual([])
  })

  test('a row gives roles by a claim, with the others that are there, and is removed', async () => {
    const config = { clientId: 'roster', clientSecret: secret, issuer: upstream.url }
    const { idpId } = await act('AddOrganizationOIDCIDP', { name: unique('Roles'), ...config })
    const projectId = await newProject(organization, ['reader', 'approver'])
    const before = { claim: 'groups', value: 'readers', projectId, roleKeys: ['reader'] }
    await act('SetOrganizationIDPRoles', { idpId, rows: [before] })
    const { page, faults } = await openConsole(browser, owner, `/providers/${idpId}/roles`)
    await page.getByRole('button', { name: 'Add a row' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Value').fill(evil)
    await dialog.getByLabel('Project').selectOption(projectId)
    await dialog.getByLabel('approver').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Add a row' }).click()
    await said(page, 'The row is added.')
    const rowsNow = async () => (await act('GetOrganizationIDP', { idpId })).idp.roleRows
    const added = { claim: 'groups', value: evil, projectId, roleKeys: ['approver'] }
    expect(await rowsNow()).toEqual([before, added])
    await page.getByRole('button', { name: 'Remove the row of readers' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await said(page, 'The row is removed.')
    expect(await rowsNow()).toEqual([added])
    expect(await page.locator('main img').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('a record of SAML or LDAP is shown, and says that it signs nobody in yet', async () => {
    const { idpId } = await act('AddOrganizationSAMLIDP', {
      name: unique('SAML'),
      metadataUrl: 'https://saml.example/metadata',
    })
    const { page } = await openConsole(browser, owner, `/providers/${idpId}`)
    await page.getByText('Roster does not sign people in by SAML 2.0 yet.').waitFor()
    await page.getByText('https://saml.example/metadata').waitFor()
    expect(await page.getByRole('button', { name: /Test|Show the button/ }).count()).toBe(0)
    await expectAccessible(page)
  })

  test('a viewer sees providers and changes nothing, and whoever may not read them has no entry', async () => {
    const viewer = await newMember(organization, ['ORG_OWNER_VIEWER'])
    const { idpId } = await act('AddOrganizationOIDCIDP', {
      name: unique('Seen'),
      clientId: 'roster',
      clientSecret: secret,
      issuer: upstream.url,
    })
    const { page, goto } = await openConsole(browser, viewer, '/providers')
    await rowsOf(page).first().waitFor()
    for (const path of ['', `/${idpId}`, `/${idpId}/settings`]) {
      await goto(`/providers${path}`)
      await page.locator('.tag.good').first().waitFor()
      const names = await page.locator('main :is(button, a.button):visible:enabled').allTextContents()
      expect(
        names.filter((name) => !name.startsWith('Copy')),
        path,
      ).toEqual([])
    }
    const manager = await newMember(organization, ['ORG_USER_MANAGER'])
    const other = await openConsole(browser, manager, '/people')
    await other.page.getByRole('table', { name: 'People' }).waitFor()
    expect(await other.page.getByRole('link', { name: 'Identity providers' }).count()).toBe(0)
    await other.goto('/providers')
    await other.page.getByText('You lack the permission org.idp.read').waitFor()
  })

  test('an owner of the instance sees those of the instance, and lists one in its policy', async () => {
    const human = await newHuman('default', { password: unique('Password') })
    const { userId } = human
    ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER'] }, admin()))
    const settings = { name: unique('Instance'), clientId: 'roster', clientSecret: secret, issuer: upstream.url }
    const { idpId } = ok(await call('AddOIDCIDP', settings, admin()))
    const before = ok(await call('GetInstanceLoginPolicy', {}, admin())).settings
    onTestFinished(async () => {
      ok(await call('UpdateInstanceLoginPolicy', { settings: before ?? {} }, admin()))
      ok(await call('RemoveIDP', { idpId }, admin()))
      ok(await call('RemoveInstanceMember', { userId }, admin()))
    })
    const { page } = await openConsole(browser, human, '/people')
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByRole('link', { name: 'Instance providers' }).click()
    await page.getByRole('searchbox', { name: 'Find by name' }).fill(settings.name)
    await expect.poll(() => rowsOf(page).allTextContents()).toEqual([expect.stringContaining(settings.name)])
    await page.getByRole('link', { name: settings.name }).click()
    await page.getByRole('button', { name: 'Show the button' }).click()
    await said(page, 'The sign-in page now shows the button of')
    const { policy } = ok(await call('GetInstanceLoginPolicy', {}, admin()))
    expect(policy.identityProviders).toContain(idpId)
    await page.getByRole('button', { name: 'Hide the button' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Hide the button' }).click()
    await said(page, 'no longer shows the button of')
  })

  test.each([
    { colorScheme: 'dark', viewport: { width: 1280, height: 800 }, locale: 'de-DE' },
    { colorScheme: 'light', viewport: { width: 360, height: 800 } },
  ] as const)('the views are accessible and fit: $colorScheme, $viewport.width wide', async (options) => {
    const { idps } = await act('SearchOrganizationIDPs', {})
    const { page, goto } = await openConsole(browser, owner, '/providers', options)
    const paths = [
      '',
      '/new',
      ...['', '/settings', '/roles', '/people', '/history'].map((tab) => `/${idps[0].id}${tab}`),
    ]
    for (const path of paths) {
      await goto(`/providers${path}`)
      await expect.poll(() => page.locator('[aria-busy=true], .ghost').count()).toBe(0)
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
        options.viewport.width,
      )
    }
  })
})
