import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { IDPPreset as Preset } from '#gen/roster/idp/v1/idp_config'
import { checkOauthPreset, checkOidcPreset, type PresetRequest } from './presets.ts'

const pemOf = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const [pem, otherPem] = [pemOf('P-256'), pemOf('P-384')]
const tenants = { ids: ['11111111-2222-3333-4444-555555555555'] }
const appleKey = { teamId: 'TEAM', keyId: 'KEY' }
const apple = { preset: Preset.IDP_PRESET_APPLE, appleKey, clientSecret: pem }

describe('a provider of OpenID Connect', () => {
  test.each<[string, PresetRequest]>([
    ['has none', { preset: Preset.IDP_PRESET_UNSPECIFIED, clientSecret: 'secret' }],
    ['is at Google', { preset: Preset.IDP_PRESET_GOOGLE, clientSecret: 'secret' }],
    ['is at Microsoft', { preset: Preset.IDP_PRESET_MICROSOFT, tenants, clientSecret: 'secret' }],
    ['is at Apple', apple],
    ['is at Apple, and keeps its key', { ...apple, clientSecret: undefined }],
  ])('that %s is taken', (_, request) => {
    expect(checkOidcPreset(request)).toEqual([])
  })

  test.each<[string, PresetRequest, string[]]>([
    ['the preset of another protocol', { preset: Preset.IDP_PRESET_GITHUB }, ['preset']],
    ['tenants without Microsoft', { preset: Preset.IDP_PRESET_GOOGLE, tenants }, ['tenants']],
    ['tenants without a preset', { tenants }, ['tenants']],
    ['a key without Apple', { appleKey }, ['appleKey']],
    ['Apple without the ids of a key', { ...apple, appleKey: undefined }, ['appleKey']],
    ['Apple with a secret that is no key', { ...apple, clientSecret: 'secret' }, ['clientSecret']],
    ['Apple with a key of another curve', { ...apple, clientSecret: otherPem }, ['clientSecret']],
  ])('with %s is refused by the field', (_, request, fields) => {
    expect(checkOidcPreset(request).map(({ field }) => field)).toEqual(fields)
  })
})

describe('a provider of OAuth 2.0', () => {
  const [github, google] = [Preset.IDP_PRESET_GITHUB, Preset.IDP_PRESET_GOOGLE]
  test.each<[Parameters<typeof checkOauthPreset>[0], string[]]>([
    [{ idAttribute: 'login' }, []],
    [{ preset: github, idAttribute: 'id' }, []],
    [{ preset: github, idAttribute: 'login' }, ['idAttribute']],
    [{ preset: google, idAttribute: 'sub' }, ['preset']],
  ])('%j', (request, fields) => {
    expect(checkOauthPreset(request).map(({ field }) => field)).toEqual(fields)
  })
})
