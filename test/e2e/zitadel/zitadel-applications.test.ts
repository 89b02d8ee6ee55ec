import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { beforeAll, expect, inject, test } from 'vitest'
import { basic, clientCredentials, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'
import { ways } from './send.ts'

/** No published client has this service yet: its names and numbers are those of ZITADEL's proto. */
const service = '/zitadel.application.v2.ApplicationService'

let home: string
let projectId: string
let owner: Awaited<ReturnType<typeof newMember>>
beforeAll(async () => {
  home = await newOrganization()
  ;[projectId, owner] = await Promise.all([newProject(home), newMember(home, ['ORG_OWNER'])])
})

/** Asks by Connect in JSON. */
async function ask(method: string, request: object, token = owner.token): Promise<any> {
  const response = await fetch(`${inject('roster').url}${service}/${method}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'connect-protocol-version': '1',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(request),
  })
  return response.json()
}
const fieldsOf = (error: any): string[] =>
  (error.details ?? []).flatMap(({ debug }: any) => debug?.fieldViolations ?? []).map(({ field }: any) => field)

const date = expect.stringMatching(/^\d{4}-.*Z$/)
const settings = {
  redirectUris: ['https://app.example.com/a', 'https://app.example.com/b'],
  grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
  postLogoutRedirectUris: ['https://app.example.com/bye'],
  accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
  idTokenRoleAssertion: true,
  clockSkew: '5s',
  additionalOrigins: ['https://app.example.com'],
  backChannelLogoutUri: 'https://app.example.com/ended',
}
const create = (more: object) => ask('CreateApplication', { projectId, name: unique('App'), ...more })
const get = async (applicationId: string) => (await ask('GetApplication', { applicationId })).application

test('ZITADEL’s UpdateApplication changes what it sends: an unset field stays, and so does a list that it cannot tell from an empty one', async () => {
  const oidcConfiguration = { ...settings, responseTypes: ['OIDC_RESPONSE_TYPE_CODE'], version: 'OIDC_VERSION_1_0' }
  const { applicationId, ...created } = await create({ oidcConfiguration })
  const { clientId } = created.oidcConfiguration
  expect(created).toEqual({
    creationDate: date,
    oidcConfiguration: { clientId, clientSecret: expect.stringMatching(/^[\w-]{43}$/) },
  })
  // What only Roster has stays, too.
  ok(await call('PatchApplication', { projectId, appId: applicationId, oidcConfig: { firstParty: true } }, admin(home)))
  const own = { applicationId, projectId }
  const update = (more: object) => ask('UpdateApplication', { ...own, ...more })
  expect(await update({ oidcConfiguration: { developmentMode: true } })).toEqual({ changeDate: date })
  const shown = async () => (await get(applicationId)).oidcConfiguration
  expect(await shown()).toEqual({ clientId, ...settings, developmentMode: true })
  await update({ oidcConfiguration: { developmentMode: false, idTokenRoleAssertion: false, redirectUris: [] } })
  const { idTokenRoleAssertion: _, ...left } = settings
  expect(await shown()).toEqual({ clientId, ...left })
  await update({ name: 'Other', oidcConfiguration: { redirectUris: ['https://app.example.com/c'] } })
  expect(await shown()).toEqual({ clientId, ...left, redirectUris: ['https://app.example.com/c'] })
  expect((await get(applicationId)).name).toBe('Other')
  const appId = applicationId
  const { application } = ok(await call('GetApplication', { projectId, appId }, admin(home)))
  expect(application.oidcConfig.firstParty).toBe(true)
})

test('its numbers are those of ZITADEL', async () => {
  const { applicationId } = await create({ oidcConfiguration: settings })
  const patched = new BinaryWriter().tag(8, 0).bool(true).tag(16, 2).string('https://app.example.com/x').finish()
  const bytes = new BinaryWriter()
    .tag(1, 2)
    .string(applicationId)
    .tag(2, 2)
    .string(projectId)
    .tag(3, 2)
    .string('By number')
    .tag(5, 2)
    .bytes(patched)
    .finish()
  for (const [, send] of ways) {
    const { error } = await send(`${service}/UpdateApplication`, bytes, { authorization: `Bearer ${owner.token}` })
    expect(error).toBeUndefined()
  }
  expect(await get(applicationId)).toMatchObject({
    name: 'By number',
    oidcConfiguration: { ...settings, developmentMode: true, backChannelLogoutUri: 'https://app.example.com/x' },
  })
})

test('what has no equal is refused by its name, and a fault names ZITADEL’s field', async () => {
  const { applicationId } = await create({ oidcConfiguration: settings })
  const own = { applicationId, projectId }
  const refused = async (more: object) => {
    const error = await ask('UpdateApplication', { ...own, ...more })
    return [error.code, ...fieldsOf(error)]
  }
  expect(await refused({ samlConfiguration: {} })).toEqual(['invalid_argument', 'samlConfiguration'])
  const implicit = { oidcConfiguration: { responseTypes: [2] } }
  expect(await refused(implicit)).toEqual(['invalid_argument', 'oidcConfiguration.responseTypes'])
  const http = { oidcConfiguration: { redirectUris: ['http://app.example.com/'] } }
  expect(await refused(http)).toEqual(['invalid_argument', 'oidcConfiguration.redirectUris[0]'])
  expect((await ask('UpdateApplication', { ...own, apiConfiguration: {} })).code).toBe('failed_precondition')
})

test('an application is made, found, given a secret and a key, deactivated and deleted', async () => {
  const { applicationId, ...created } = await create({ apiConfiguration: {} })
  const { clientId, clientSecret } = created.apiConfiguration
  const answerTo = async (secret: string) =>
    (await sendForm(tokenPath, { grant_type: clientCredentials }, { headers: basic(clientId, secret) })).body.error
  expect(await answerTo(clientSecret)).toBe('unauthorized_client')
  const own = { applicationId, projectId }
  const { name } = await get(applicationId)
  const filters = [
    { projectIdFilter: { projectId } },
    { nameFilter: { name, method: 'TEXT_FILTER_METHOD_EQUALS' } },
    { stateFilter: 'APPLICATION_STATE_ACTIVE' },
  ]
  const found = await ask('ListApplications', { filters, pagination: { limit: 10, asc: true } })
  expect(found).toEqual({
    applications: [{ ...(await get(applicationId)), apiConfiguration: { clientId } }],
    pagination: { totalResult: '1' },
  })
  const made = await ask('GenerateClientSecret', own)
  expect(made.creationDate).toEqual(date)
  expect(await answerTo(made.clientSecret)).toBe('unauthorized_client')
  await ask('UpdateApplication', {
    ...own,
    apiConfiguration: { authMethodType: 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' },
  })
  const { keyId, keyDetails } = await ask('CreateApplicationKey', own)
  expect(JSON.parse(Buffer.from(keyDetails, 'base64').toString())).toMatchObject({ keyId, clientId })
  expect(await ask('DeleteApplicationKey', { ...own, keyId })).toEqual({ deletionDate: date })
  expect(await ask('DeactivateApplication', own)).toEqual({ deactivationDate: date })
  expect(await get(applicationId)).toMatchObject({ state: 'APPLICATION_STATE_INACTIVE' })
  expect(await ask('ReactivateApplication', own)).toEqual({ reactivationDate: date })
  expect(await ask('DeleteApplication', own)).toEqual({ deletionDate: date })
  expect((await ask('GetApplication', { applicationId })).code).toBe('not_found')
})

test('by its id alone an application is found in the acting organization, and nowhere else', async () => {
  const { applicationId } = await create({ apiConfiguration: {} })
  const stranger = await newMember(await newOrganization(), ['ORG_OWNER'])
  expect((await ask('GetApplication', { applicationId }, stranger.token)).code).toBe('not_found')
})
