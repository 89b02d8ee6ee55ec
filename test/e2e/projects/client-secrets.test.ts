import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ExampleApplication, newApi, newApplication, newSigningApi } from '../../examples/applications.ts'
import { inSeconds } from '../../examples/machines.ts'
import { basic, clientCredentials, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let home: string
let projectId: string
beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
})

/** An application that proved who it is may not use this grant. */
const [proved, refused] = ['unauthorized_client', 'invalid_client']
async function answerTo({ clientId }: ExampleApplication, secret: string): Promise<string> {
  const form = { grant_type: clientCredentials }
  return (await sendForm(tokenPath, form, { headers: basic(clientId, secret) })).body.error
}
const soon = { timeout: 15_000, interval: 200 }

describe.each(over('grpc'))('secrets of an application over $encoding:', ({ call }) => {
  const ask = (operation: Parameters<typeof call>[0], { appId }: { appId: string }, more: JsonObject = {}) =>
    call(operation, { projectId, appId, ...more }, admin(home))
  const act = async (...args: Parameters<typeof ask>) => ok(await ask(...args))
  const listed = async (client: { appId: string }): Promise<any[]> =>
    (await act('ListClientSecrets', client)).secrets ?? []
  const reason = async (...args: Parameters<typeof ask>) => factsOf(await ask(...args)).reason ?? 'ok'

  test.each([
    ['a client of OpenID Connect', () => newApplication(home, projectId)],
    ['an API', () => newApi(home, projectId, 'BASIC')],
  ])('%s has two at a time, each of which it proves itself by, until one is removed', async (_, add) => {
    const client = await add()
    const [first] = await listed(client)
    expect(first).toEqual({ secretId: expect.any(String), creationDate: expect.any(String) })
    const { secretId, clientSecret } = await act('AddClientSecret', client)
    expect(clientSecret).toMatch(/^[\w-]{43}$/)
    for (const secret of [client.clientSecret, clientSecret]) expect(await answerTo(client, secret)).toBe(proved)
    expect(await answerTo(client, unique('other'))).toBe(refused)
    const full = { code: 8, reason: 'LIMIT_REACHED', metadata: { limit: 'application.secrets', most: '2' } }
    expect(factsOf(await ask('AddClientSecret', client))).toMatchObject(full)
    expect((await listed(client)).map((one) => one.secretId)).toEqual([first.secretId, secretId])
    await act('RemoveClientSecret', client, { secretId: first.secretId })
    await expect.poll(() => answerTo(client, client.clientSecret), soon).toBe(refused)
    expect(await answerTo(client, clientSecret)).toBe(proved)
    expect(await reason('RemoveClientSecret', client, { secretId: first.secretId })).toBe('CREDENTIAL_NOT_FOUND')
    await act('RemoveClientSecret', client, { secretId })
    await expect.poll(() => answerTo(client, clientSecret), soon).toBe(refused)
    expect(await listed(client)).toEqual([])
    expect(JSON.stringify((await act('AddClientSecret', client)).secretId)).not.toContain(secretId)
  })

  test('GenerateClientSecret replaces both, and a method without secrets takes both away', async () => {
    const client = await newApplication(home, projectId)
    const { clientSecret: second } = await act('AddClientSecret', client)
    const { clientSecret } = await act('GenerateClientSecret', client)
    expect(await answerTo(client, clientSecret)).toBe(proved)
    for (const secret of [client.clientSecret, second])
      await expect.poll(() => answerTo(client, secret), soon).toBe(refused)
    expect(await listed(client)).toHaveLength(1)
    await act('AddClientSecret', client)
    await act('PatchApplication', client, { oidcConfig: { authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' } })
    expect(await listed(client)).toEqual([])
    for (const operation of ['AddClientSecret', 'GenerateClientSecret'] as const) {
      expect(await reason(operation, client)).toBe('AUTH_METHOD_WITHOUT_SECRET')
      expect(await reason(operation, await newSigningApi(home, projectId))).toBe('AUTH_METHOD_WITHOUT_SECRET')
    }
  })

  test('a secret ends when it says so, also one that is there already, and then counts no more', async () => {
    const client = await newApplication(home, projectId)
    const [{ secretId }] = await listed(client)
    const past = { code: 3, reason: 'VALIDATION_FAILED', fields: ['expirationDate'] }
    const expirationDate = inSeconds(-1)
    expect(factsOf(await ask('AddClientSecret', client, { expirationDate }))).toMatchObject(past)
    expect(factsOf(await ask('SetClientSecretExpiration', client, { secretId, expirationDate }))).toMatchObject(past)
    const unknown = { secretId: 'unknown', expirationDate: inSeconds(60) }
    expect(await reason('SetClientSecretExpiration', client, unknown)).toBe('CREDENTIAL_NOT_FOUND')
    const later = inSeconds(3600)
    await act('SetClientSecretExpiration', client, { secretId, expirationDate: later })
    expect(await listed(client)).toMatchObject([{ secretId, expirationDate: later }])
    const { sequence } = (await act('SetClientSecretExpiration', client, { secretId, expirationDate: later })).details
    expect(sequence).toBe('2')
    await act('SetClientSecretExpiration', client, { secretId })
    expect((await listed(client))[0]).not.toHaveProperty('expirationDate')
    const { clientSecret: brief } = await act('AddClientSecret', client, { expirationDate: inSeconds(4) })
    expect(await answerTo(client, brief)).toBe(proved)
    await act('SetClientSecretExpiration', client, { secretId, expirationDate: inSeconds(4) })
    for (const secret of [brief, client.clientSecret])
      await expect.poll(() => answerTo(client, secret), soon).toBe(refused)
    expect(await listed(client)).toEqual([])
    const { clientSecret } = await act('AddClientSecret', client)
    expect(await answerTo(client, clientSecret)).toBe(proved)
  })

  test('each shows the hour of its last use, which comes after the answer', async () => {
    const client = await newApplication(home, projectId)
    const { secretId, clientSecret } = await act('AddClientSecret', client)
    expect(await answerTo(client, clientSecret)).toBe(proved)
    const used = async () => (await listed(client)).map(({ lastUseDate = '' }) => lastUseDate)
    await expect.poll(used, soon).toEqual(['', expect.stringMatching(/:00:00Z$/)])
    const [, hour] = await used()
    expect(Math.abs(Date.now() - Date.parse(hour))).toBeLessThan(2 * 3_600_000)
    // A wrong secret is no use.
    expect(await answerTo(client, 'wrong')).toBe(refused)
    await act('RemoveClientSecret', client, { secretId })
    expect(await used()).toEqual([''])
  })

  test('secrets and keys that end within some days are listed for the organization, the soonest first', async () => {
    const client = await newApplication(home, projectId)
    const api = await newSigningApi(home, projectId)
    const [{ secretId: lasting }] = await listed(client)
    const inDays = (days: number) => inSeconds(days * 86_400)
    const secret = await act('AddClientSecret', client, { expirationDate: inDays(20) })
    const key = await act('AddApplicationKey', api, { expirationDate: inDays(10) })
    const ending = async (days = 0, caller = admin(home)) =>
      (ok(await call('ListEndingApplicationCredentials', { days }, caller)).credentials ?? []).filter(
        ({ appId }: any) => appId === client.appId || appId === api.appId,
      )
    const name = expect.any(String)
    const rows = [
      { projectId, appId: api.appId, name, type: 'APPLICATION_CREDENTIAL_TYPE_KEY', credentialId: key.keyId },
      {
        projectId,
        appId: client.appId,
        name,
        type: 'APPLICATION_CREDENTIAL_TYPE_SECRET',
        credentialId: secret.secretId,
      },
    ].map((row) => ({ ...row, expirationDate: expect.any(String) }))
    expect(await ending()).toEqual(rows)
    expect(await ending(15)).toEqual(rows.slice(0, 1))
    expect(await ending(0, admin(await newOrganization()))).toEqual([])
    await act('SetClientSecretExpiration', client, { secretId: lasting, expirationDate: inDays(5) })
    await act('RemoveClientSecret', client, { secretId: secret.secretId })
    expect((await ending()).map((row: any) => row.credentialId)).toEqual([lasting, key.keyId])
    await act('RemoveApplication', client)
    expect((await ending()).map((row: any) => row.credentialId)).toEqual([key.keyId])
    const invalid = await call('ListEndingApplicationCredentials', { days: -1 }, admin(home))
    expect(factsOf(invalid)).toMatchObject({ code: 3, fields: ['days'] })
  })

  test('only with a role on the instance one is added to an application that acts in Roster, or kept longer', async () => {
    const { token } = await newMember(home, ['ORG_OWNER'])
    const client = await newApplication(home, projectId, { rosterApi: true })
    const [{ secretId }] = await listed(client)
    const asOwner = async (operation: Parameters<typeof call>[0], more: JsonObject = {}) =>
      factsOf(await call(operation, { projectId, appId: client.appId, ...more }, { ...admin(home), token })).reason ??
      'ok'
    expect(await asOwner('AddClientSecret')).toBe('PERMISSION_DENIED')
    expect(await asOwner('SetClientSecretExpiration', { secretId })).toBe('PERMISSION_DENIED')
    expect(await asOwner('ListClientSecrets')).toBe('ok')
    expect(await asOwner('RemoveClientSecret', { secretId })).toBe('ok')
  })
})
