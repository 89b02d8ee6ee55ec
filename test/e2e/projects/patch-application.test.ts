import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { newApi, newApplication } from '../../examples/applications.ts'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let home: string
let projectId: string
beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
})

const settings = {
  redirectUris: ['https://app.example.com/a', 'https://app.example.com/b'],
  grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
  postLogoutRedirectUris: ['https://app.example.com/bye'],
  accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
  idTokenRoleAssertion: true,
  idTokenUserinfoAssertion: true,
  clockSkew: '5s',
  additionalOrigins: ['https://app.example.com'],
  backChannelLogoutUri: 'https://app.example.com/ended',
  allowMissingPkce: true,
  firstParty: true,
  idTokenAlgorithm: 'ID_TOKEN_ALGORITHM_ES256',
  accessTokenLifetime: '60s',
}

describe.each(over('json'))('a part of an application over $encoding:', ({ call }) => {
  const patch = (appId: string, more: JsonObject, options: CallOptions = admin(home)) =>
    call('PatchApplication', { projectId, appId, ...more }, options)
  const read = async (appId: string) => ok(await call('GetApplication', { projectId, appId }, admin(home))).application
  const shown = async (appId: string) => {
    const { effective: _, responseTypes: __, clientId: ___, ...said } = (await read(appId)).oidcConfig
    return said
  }

  test('without a mask what is sent changes, and what is not sent stays', async () => {
    const { appId } = await newApplication(home, projectId, settings)
    expect(await shown(appId)).toEqual(settings)
    const { details } = ok(await patch(appId, { oidcConfig: { devMode: true } }))
    expect(details.sequence).toBe('2')
    expect(await shown(appId)).toEqual({ ...settings, devMode: true })
    ok(await patch(appId, { oidcConfig: { devMode: false, idTokenRoleAssertion: false, redirectUris: [] } }))
    const { idTokenRoleAssertion: _, ...left } = settings
    expect(await shown(appId)).toEqual(left)
    ok(await patch(appId, { name: 'Other', oidcConfig: { redirectUris: ['https://app.example.com/c'] } }))
    expect(await shown(appId)).toEqual({ ...left, redirectUris: ['https://app.example.com/c'] })
    expect(await read(appId)).toMatchObject({ name: 'Other', details: { sequence: '5' } })
    // What changes nothing is no event.
    for (const more of [{}, { name: 'Other' }, { oidcConfig: {} }, { oidcConfig: { firstParty: true } }])
      expect(ok(await patch(appId, more)).details.sequence).toBe('5')
  })

  test('a mask names what changes: a list that it names and that is not sent is empty, another one stays', async () => {
    const { appId } = await newApplication(home, projectId, settings)
    ok(await patch(appId, { updateMask: 'oidcConfig.postLogoutRedirectUris,oidcConfig.clockSkew' }))
    const { postLogoutRedirectUris: _, clockSkew: __, ...left } = settings
    expect(await shown(appId)).toEqual(left)
    const redirectUris = ['https://app.example.com/c']
    const updateMask = 'oidcConfig.redirectUris,oidcConfig.idTokenAlgorithm,oidcConfig.accessTokenLifetime,name'
    ok(await patch(appId, { name: 'Masked', oidcConfig: { redirectUris }, updateMask }))
    const { idTokenAlgorithm: ___, accessTokenLifetime: ____, ...rest } = left
    expect(await shown(appId)).toEqual({ ...rest, redirectUris })
    expect((await read(appId)).name).toBe('Masked')
    ok(await patch(appId, { updateMask: '' }))
    expect(await shown(appId)).toEqual({ ...rest, redirectUris })
    ok(await patch(appId, { oidcConfig: { redirectUris }, updateMask: 'oidcConfig' }))
    expect(await shown(appId)).toEqual({ redirectUris, grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'] })
  })

  test.each<[string, JsonObject, string[]]>([
    ['an unknown path', { updateMask: 'name,oidcConfig.redirectUri', name: 'A' }, ['updateMask']],
    ['a path within a setting', { updateMask: 'oidcConfig.loginVersion.loginV2' }, ['updateMask']],
    [
      'what is sent and not named',
      { updateMask: 'name', name: 'A', oidcConfig: { devMode: true } },
      ['oidcConfig.devMode'],
    ],
    ['a name that is named and not sent', { updateMask: 'name' }, ['name']],
    [
      'a redirect URI by http',
      { oidcConfig: { redirectUris: ['https://a.example/', 'http://a.example/'] } },
      ['oidcConfig.redirectUris[1]'],
    ],
    ['a token life of a second', { oidcConfig: { accessTokenLifetime: '1s' } }, ['oidcConfig.accessTokenLifetime']],
    ['an unknown organization', { oidcConfig: { organizationId: 'unknown' } }, ['oidcConfig.organizationId']],
    [
      'a setting that does not fit those that stay',
      { oidcConfig: { appType: 'OIDC_APP_TYPE_NATIVE' } },
      ['oidcConfig.allowMissingPkce'],
    ],
  ])('%s is refused by its name, and nothing changes', async (_, more, fields) => {
    const { appId } = await newApplication(home, projectId, settings)
    expect(factsOf(await patch(appId, more))).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', fields })
    expect((await read(appId)).details.sequence).toBe('1')
  })

  test('settings of the other type are refused', async () => {
    const [{ appId: web }, { appId: api }] = [
      await newApplication(home, projectId),
      await newApi(home, projectId, 'BASIC'),
    ]
    const reason = async (appId: string, more: JsonObject) => factsOf(await patch(appId, more)).reason
    for (const more of [{ oidcConfig: {} }, { oidcConfig: { devMode: true } }, { updateMask: 'oidcConfig.devMode' }])
      expect(await reason(api, more)).toBe('APPLICATION_TYPE_MISMATCH')
    for (const more of [{ apiConfig: {} }, { updateMask: 'apiConfig' }])
      expect(await reason(web, more)).toBe('APPLICATION_TYPE_MISMATCH')
    const keys = 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT'
    ok(await patch(api, { apiConfig: { authMethodType: keys } }))
    expect((await read(api)).apiConfig).toMatchObject({ authMethodType: keys, effective: { authMethodType: keys } })
    ok(await patch(api, { updateMask: 'apiConfig.authMethodType' }))
    expect((await read(api)).apiConfig.effective).toEqual({ authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' })
  })

  test('a method without secrets takes them away, an http URI goes with dev_mode, and If-Match binds', async () => {
    const { appId } = await newApplication(home, projectId, { devMode: true, redirectUris: ['http://localhost:3000/'] })
    const refused = await patch(appId, { oidcConfig: { devMode: false } })
    expect(factsOf(refused)).toMatchObject({ fields: ['oidcConfig.redirectUris[0]'] })
    const secrets = async () => ok(await call('ListClientSecrets', { projectId, appId }, admin(home))).secrets ?? []
    expect(await secrets()).toHaveLength(1)
    const none = { oidcConfig: { authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' } }
    const stale = await patch(appId, none, { ...admin(home), headers: { 'if-match': '"7"' } })
    expect(factsOf(stale).reason).toBe('SEQUENCE_MISMATCH')
    ok(await patch(appId, none, { ...admin(home), headers: { 'if-match': '"1"' } }))
    expect(await secrets()).toEqual([])
  })

  test('only with a role on the instance it makes an application act in Roster, changes one that does, or names pages', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const asOwner = async (appId: string, more: JsonObject) =>
      factsOf(await patch(appId, more, { ...admin(home), token: owner.token })).reason ?? 'ok'
    const [{ appId: plain }, { appId: trusted }] = [
      await newApplication(home, projectId),
      await newApplication(home, projectId, { rosterApi: true }),
    ]
    const pages = { loginVersion: { loginV2: { baseUri: 'https://login.example.com' } } }
    const refused = [
      await asOwner(plain, { oidcConfig: { rosterApi: true } }),
      await asOwner(plain, { oidcConfig: pages }),
      await asOwner(trusted, { oidcConfig: { redirectUris: ['https://evil.example/'] } }),
      await asOwner(trusted, { updateMask: 'oidcConfig.rosterApi' }),
      await asOwner(trusted, { name: 'Roster' }),
    ]
    expect(new Set(refused)).toEqual(new Set(['PERMISSION_DENIED']))
    expect(await asOwner(plain, { oidcConfig: { devMode: true } })).toBe('ok')
    ok(await patch(plain, { oidcConfig: pages }))
    expect(await asOwner(plain, { oidcConfig: { devMode: false } })).toBe('ok')
    expect(await shown(plain)).toMatchObject(pages)
    ok(await patch(plain, { oidcConfig: { loginVersion: { loginV1: {} } } }))
    expect(await shown(plain)).not.toHaveProperty('loginVersion')
  })
})
