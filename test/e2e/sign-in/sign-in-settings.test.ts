import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { addition, examples } from '../../examples/idps.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { wholeProviders } from '../../examples/whole-providers.ts'
import { drawPng } from '../../support/browsers/png.ts'
import { factsOf } from '../clients/call.ts'
import { call, over } from '../clients/encodings.ts'
import { ways } from '../zitadel/send.ts'

let home: string
beforeAll(async () => {
  home = await newOrganization()
})

describe.each(over('json'))('what holds for people who sign in, over $encoding:', ({ call }) => {
  test('the login settings are those of the policy, of the organization or of the instance', async () => {
    const organization = await newOrganization()
    const owner = await newMember(organization, ['ORG_OWNER'])
    const settings = async (request = {}, as: { token: string } = owner) =>
      ok(await call('GetLoginSettings', request, as)).settings
    const usual = {
      allowUsernamePassword: true,
      ignoreUnknownUsernames: true,
      // A test of the login policy makes that of the instance a second shorter for a moment.
      passwordCheckLifetime: expect.stringMatching(/^(43200|43199)s$/),
      disableLoginWithPhone: true,
      secondFactors: ['OTP', 'OTP_EMAIL', 'RECOVERY_CODES'].map((name) => `SECOND_FACTOR_TYPE_${name}`),
    }
    expect(await settings()).toEqual({ ...usual, resourceOwnerType: 'RESOURCE_OWNER_TYPE_INSTANCE' })
    const set = { allowRegister: true, hidePasswordReset: true, passwordCheckLifetime: '3600s' }
    ok(await call('UpdateLoginPolicy', { settings: set }, owner))
    expect(await settings()).toEqual({ ...usual, ...set, resourceOwnerType: 'RESOURCE_OWNER_TYPE_ORG' })
    const ofInstance = { instance: true }
    expect(await settings(ofInstance, admin(organization))).toEqual({
      ...usual,
      resourceOwnerType: 'RESOURCE_OWNER_TYPE_INSTANCE',
    })
    expect(factsOf(await call('GetLoginSettings', ofInstance, owner)).reason).toBe('PERMISSION_DENIED')
  })

  test('a login application reads all, in every organization', async () => {
    const client = { ...(await newLoginClient(await newOrganization())), organization: home }
    const read = async (operation: Parameters<typeof call>[0]) => ok(await call(operation, {}, client))
    const ofInstance = { resourceOwnerType: 'RESOURCE_OWNER_TYPE_INSTANCE' }
    expect(await read('GetGeneralSettings')).toEqual({
      defaultOrgId: 'default',
      defaultLanguage: 'en',
      supportedLanguages: ['en', 'de'],
    })
    expect((await read('GetLoginSettings')).settings.allowUsernamePassword).toBe(true)
    // Another test may list one for the instance meanwhile.
    await read('GetActiveIdentityProviders')
    expect(await read('GetPasswordComplexitySettings')).toEqual({ settings: { minLength: '8', ...ofInstance } })
    expect(await read('GetPasswordExpirySettings')).toEqual({ settings: ofInstance })
    expect(await read('GetDomainSettings')).toEqual({ settings: ofInstance })
    expect(await read('GetLegalAndSupportSettings')).toEqual({ settings: ofInstance })
    expect(await read('GetLockoutSettings')).toEqual({ settings: ofInstance })
    expect(await read('GetSecuritySettings')).toEqual({ settings: { embeddedIframe: {} } })
    expect((await read('GetBrandingSettings')).settings).toMatchObject({ ...ofInstance, themeMode: 'THEME_MODE_AUTO' })
  })

  test('the active identity providers are those that people sign in by, in the order of the policy', async () => {
    const [organization, foreign] = [await newOrganization(), await newOrganization()]
    const as = admin(organization)
    const [notListed, inactive] = [await newProvider(organization, 'jwt'), await newProvider(organization, 'github')]
    ok(await call('DeactivateOrganizationIDP', { idpId: inactive.idpId }, as))
    const { idpId: saml } = ok(await call('AddOrganizationSAMLIDP', addition(examples.saml), as))
    const ofAnother = await newProvider(foreign, 'google')
    // Users hears of these after the others.
    const byHand = { isCreationAllowed: true, isAutoUpdate: true }
    const apple = await newProvider(organization, 'apple', byHand)
    const byItself = { isLinkingAllowed: true, isCreationAllowed: true, isAutoCreation: true }
    const oidc = await newProvider(organization, 'oidc', byItself)
    const idpIds = [oidc.idpId, inactive.idpId, saml, ofAnother.idpId, 'unknown', apple.idpId]
    ok(await call('UpdateLoginPolicy', { settings: { identityProviders: { idpIds } } }, as))
    const client = { ...(await newLoginClient(foreign)), organization }
    const find = async (filter = {}) =>
      ok(await call('GetActiveIdentityProviders', filter, client)).identityProviders ?? []
    await expect.poll(find, { timeout: 10_000 }).toEqual([
      { ...oidc, type: 'IDENTITY_PROVIDER_TYPE_OIDC' },
      { ...apple, type: 'IDENTITY_PROVIDER_TYPE_APPLE' },
    ])
    const idsOf = async (filter: object) => (await find(filter)).map(({ idpId }: { idpId: string }) => idpId)
    expect(await idsOf({ creationAllowed: true })).toEqual([oidc.idpId, apple.idpId])
    expect(await idsOf({ creationAllowed: false })).toEqual([])
    expect(await idsOf({ linkingAllowed: false })).toEqual([apple.idpId])
    expect(await idsOf({ creationAllowed: true, autoCreation: true })).toEqual([oidc.idpId])
    expect(await idsOf({ linkingAllowed: true, autoCreation: false })).toEqual([])
    for (const { idpId } of await find({ instance: true })) expect([...idpIds, notListed.idpId]).not.toContain(idpId)
    const owner = await newMember(organization, ['ORG_OWNER'])
    const denied = await call('GetActiveIdentityProviders', { instance: true }, owner)
    expect(factsOf(denied).reason).toBe('PERMISSION_DENIED')
    // What idp says counts at once.
    ok(await call('DeactivateOrganizationIDP', { idpId: oidc.idpId }, as))
    expect(await idsOf({})).toEqual([apple.idpId])
  })

  test('the links are those of the policy, each by itself', async () => {
    const organization = await newOrganization()
    const links = { privacyPolicyLink: 'https://example.com/privacy', tosLink: 'https://example.com/terms' }
    ok(await call('UpdateLoginPolicy', { settings: links }, admin(organization)))
    expect(ok(await call('GetLegalAndSupportSettings', {}, admin(organization)))).toEqual({
      settings: { ...links, resourceOwnerType: 'RESOURCE_OWNER_TYPE_ORG' },
    })
    const { settings } = ok(await call('GetLegalAndSupportSettings', { instance: true }, admin(organization)))
    expect(settings).toEqual({ resourceOwnerType: 'RESOURCE_OWNER_TYPE_INSTANCE' })
  })

  test('the brand is that of the login policy, which says nothing of sign-in', async () => {
    const organization = await newOrganization()
    const picture = (grey: number) => drawPng({ pixels: Buffer.alloc(72, grey) }).toString('base64')
    const logos = { logo: picture(1), darkLogo: picture(2), icon: picture(3) }
    const brand = { lightTheme: { primaryColor: '#7a1fa2' }, cornerRadius: 4, ...logos }
    ok(await call('UpdateLoginPolicy', { settings: { brand } }, admin(organization)))
    const { settings } = ok(await call('GetBrandingSettings', {}, admin(organization)))
    expect(settings).toMatchObject({
      lightTheme: { primaryColor: '#7a1fa2', backgroundColor: '#ffffff' },
      darkTheme: { primaryColor: '#9db8ff', backgroundColor: '#1e2226' },
      resourceOwnerType: 'RESOURCE_OWNER_TYPE_ORG',
    })
    const ofInstance = ok(await call('GetBrandingSettings', { instance: true }, admin(organization))).settings
    expect(ofInstance.resourceOwnerType).toBe('RESOURCE_OWNER_TYPE_INSTANCE')
    expect(ofInstance.lightTheme.primaryColor).not.toBe('#7a1fa2')
    const owner = await newMember(organization, ['ORG_OWNER'])
    const denied = await call('GetBrandingSettings', { instance: true }, owner)
    expect(factsOf(denied).reason).toBe('PERMISSION_DENIED')
    const { lightTheme: light, darkTheme: dark } = settings
    expect([new Set([light.logoUrl, dark.logoUrl, light.iconUrl]).size, dark.iconUrl]).toEqual([3, light.iconUrl])
    for (const url of [light.logoUrl, dark.logoUrl, light.iconUrl]) {
      const file = await fetch(url)
      expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
    }
    const { settings: signIn } = ok(await call('GetLoginSettings', {}, admin(organization)))
    expect(signIn.resourceOwnerType).toBe('RESOURCE_OWNER_TYPE_INSTANCE')
  })

  test('nobody else than who may read policies', async () => {
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    for (const operation of ['GetGeneralSettings', 'GetLoginSettings', 'GetSecuritySettings'] as const)
      expect(factsOf(await call(operation, {}, manager)).reason).toBe('PERMISSION_DENIED')
  })
})

/** A provider of an organization, by its kind, as a list of active ones has it. */
async function newProvider(organization: string, of: string, options: JsonObject = {}) {
  const { kind, settings, secret } = wholeProviders.find((one) => one.kind === of)!
  const name = unique(kind)
  const request = { name, options, [kind]: settings, ...secret }
  const { idpId } = ok(await call('AddOrganizationIdentityProvider', request, admin(organization)))
  return { idpId: idpId as string, name, options }
}

test('the paths are those of ZITADEL', async () => {
  const { url, adminToken } = inject('roster')
  const paths = ['', '/login', '/login/idps', '/password/complexity', '/password/expiry', '/branding', '/domain']
  for (const path of [...paths, '/legal_support', '/lockout', '/security']) {
    const response = await fetch(`${url}/v2/settings${path}`, { headers: { authorization: `Bearer ${adminToken}` } })
    expect([path, response.status]).toEqual([path, 200])
  }
})

test.each(ways)('what cannot be set is said to have no equal over %s', async (_, send) => {
  for (const method of ['SetSecuritySettings', 'SetHostedLoginTranslation']) {
    const path = `/zitadel.settings.v2.SettingsService/${method}`
    const { error } = await send(path, new Uint8Array(), { authorization: `Bearer ${admin().token}` })
    expect([error?.code, error?.message]).toEqual([12, `Roster has no equal of ${path.slice(1)}.`])
  }
})
