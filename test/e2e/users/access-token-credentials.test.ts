import { beforeAll, describe, expect, test } from 'vitest'
import { inSeconds } from '../../examples/machines.ts'
import {
  type ExampleClient,
  clientCredentials,
  basic,
  newClient,
  obtainToken,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { newOrganization, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, encodings } from '../clients/encodings.ts'

let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const adds = ['AddPersonalAccessToken', 'AddMachineKey', 'AddMachineSecret'] as const
const chosen = { AddPersonalAccessToken: {}, AddMachineKey: { algorithm: 'KEY_ALGORITHM_ES256' }, AddMachineSecret: {} }

/** A client with an access token of this scope. */
async function newHolder(scope: string, roles: string[] = []) {
  const client = await newClient({ organization: home, roles })
  return { client, options: { token: await obtainToken(client, scope) } }
}

/** An access token, obtained with a secret that was added with an access token. */
async function obtainBy(client: ExampleClient, secret: string) {
  const { body } = await sendForm(
    tokenPath,
    { grant_type: clientCredentials },
    { headers: basic(client.userId, secret) },
  )
  return body as { access_token: string; expires_in: number }
}

describe.each(adds)('%s with an access token', (operation) => {
  test.each(['', 'openid'])(
    'of scope %j adds nothing that outlives the token, and reports the latest end',
    async (scope) => {
      const { client, options } = await newHolder(scope)
      const request = { userId: client.userId, ...chosen[operation] }
      for (const [index, expirationDate] of [undefined, inSeconds(13 * 3600), '9999-12-31T23:59:59Z'].entries()) {
        const answer = await encodings[index]!.call(
          operation,
          { ...request, ...(expirationDate !== undefined && { expirationDate }) },
          options,
        )
        const { code, reason, fields, violations } = factsOf(answer)
        expect({ code, reason, fields }).toEqual({ code: 3, reason: 'VALIDATION_FAILED', fields: ['expirationDate'] })
        const [, latest] = /must be (\S+) at the latest/.exec(violations[0]!.description) ?? []
        expect(Date.parse(latest!)).toBeGreaterThan(Date.now())
        expect(Date.parse(latest!)).toBeLessThanOrEqual(Date.now() + 12 * 3600_000)
      }
      ok(await json(operation, { ...request, expirationDate: inSeconds(3600) }, options))
    },
  )

  test('adds any credential that its user may add in its organization', async () => {
    const { client, options } = await newHolder('openid', ['ORG_OWNER'])
    ok(await json(operation, { userId: client.userId, ...chosen[operation] }, options))
  })

  test('and with a personal access token of the machine, as before', async () => {
    const client = await newClient({ organization: home })
    const { token } = ok(await json('AddPersonalAccessToken', { userId: client.userId }, (await owner()).options))
    ok(await json(operation, { userId: client.userId, ...chosen[operation] }, { token }))
  })
})

const owner = () => newHolder('openid', ['ORG_OWNER'])

describe('a credential from an access token ends with that token, and so does everything made with it:', () => {
  test('a credential added with its personal access token, whose scope it keeps', async () => {
    const { client, options } = await newHolder('profile')
    const { userId } = client
    const { token } = ok(await json('AddPersonalAccessToken', { userId, expirationDate: inSeconds(600) }, options))
    ok(await json('GetUser', { userId }, { token }))
    for (const operation of adds)
      for (const expirationDate of [undefined, inSeconds(700)]) {
        const request = { userId, ...chosen[operation], ...(expirationDate !== undefined && { expirationDate }) }
        expect(factsOf(await json(operation, request, { token })).fields).toEqual(['expirationDate'])
      }
    ok(await json('AddPersonalAccessToken', { userId, expirationDate: inSeconds(500) }, { token }))
    expect(factsOf(await encodings[1].call('GetUserInfo', {}, { token })).reason).toBe('PERMISSION_DENIED')
  })

  test('the token obtained with its secret, and the credentials made with that token', async () => {
    const { client, options } = await newHolder('openid')
    const { userId } = client
    const { clientSecret } = ok(await json('AddMachineSecret', { userId, expirationDate: inSeconds(600) }, options))
    const { access_token: token, expires_in: seconds } = await obtainBy(client, clientSecret)
    expect(seconds).toBeLessThanOrEqual(600)
    const further = { userId, expirationDate: inSeconds(700) }
    expect(factsOf(await json('AddPersonalAccessToken', further, { token })).fields).toEqual(['expirationDate'])
  })
})
