import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  assertion,
  assertionType,
  basic,
  clientCredentials,
  type ExampleClient,
  grantBy,
  jwtBearer,
  newClient,
  type OAuthAnswer,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { admin, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call, recordSecret } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string
let abroad: string
let client: ExampleClient

beforeAll(async () => {
  ;[home, abroad] = [await newOrganization(), await newOrganization()]
  client = await newClient({ organization: home })
})

const grant = { grant_type: clientCredentials }
const post = (form: Record<string, string>, headers = {}) => sendForm(tokenPath, { ...grant, ...form }, { headers })
const byBasic = (id: string, secret: string, form: Record<string, string> = {}) =>
  sendForm(tokenPath, { ...grant, ...form }, { headers: basic(id, secret) })
const own = () => ({ client_id: client.userId, client_secret: client.secret })
const domainOf = async (organization: string) =>
  ok(await call('GetMyOrganization', {}, admin(organization))).organization.primaryDomain

const malformed: { attack: string; send: () => Promise<OAuthAnswer> }[] = [
  { attack: 'the secret in the address', send: () => sendForm(`${tokenPath}?client_secret=${client.secret}`, { ...grant, client_id: client.userId }) }, // prettier-ignore
  { attack: 'the grant in the address', send: () => sendForm(`${tokenPath}?grant_type=${clientCredentials}`, own()) },
  { attack: 'Basic and a secret in the form', send: () => byBasic(client.userId, client.secret, own()) },
  { attack: 'Basic and an assertion', send: async () => byBasic(client.userId, client.secret, await signedForm()) },
  { attack: 'a secret and an assertion', send: async () => post({ ...own(), ...(await signedForm()) }) },
  {
    attack: 'Basic for one and the form for another',
    send: () => byBasic(client.userId, client.secret, { client_id: 'other' }),
  },
  { attack: 'a secret beside the assertion of a grant', send: async () => grantBy(await assertion(client), own()) },
  { attack: 'the grant twice', send: () => sendForm(tokenPath, `${form(own())}&${form(grant)}&${form(grant)}`) },
  {
    attack: 'the client twice',
    send: () => sendForm(tokenPath, `${form({ ...grant, ...own() })}&client_id=admin-machine`),
  },
  { attack: 'an unknown parameter twice', send: () => sendForm(tokenPath, `${form({ ...grant, ...own() })}&x=1&x=2`) },
  {
    attack: 'another type of assertion',
    send: async () => post({ ...(await signedForm()), client_assertion_type: 'saml' }),
  },
  { attack: 'no assertion for its grant', send: () => sendForm(tokenPath, { grant_type: jwtBearer }) },
  { attack: 'no grant', send: () => sendForm(tokenPath, own()) },
  { attack: 'a broken escape', send: () => sendForm(tokenPath, `${form({ ...grant, ...own() })}&x=%zz`) },
  { attack: 'the character U+0000', send: () => post({ client_id: 'a\0b', client_secret: 'x' }) },
  {
    attack: 'a secret longer than any',
    send: () => post({ client_id: client.userId, client_secret: 'x'.repeat(501) }),
  },
]

describe('invalid_request for', () => {
  test.each(malformed)('$attack', async ({ send }) => {
    const { status, body, headers } = await send()
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' })
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache'])
  })

  test('JSON, a content type that the path does not accept', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await sendForm(tokenPath, JSON.stringify({ ...grant, ...own() }), { headers })
    expect(answer).toMatchObject({ status: 415, body: { error: 'invalid_request' } })
  })
})

const unauthenticated: { attack: string; send: () => Promise<OAuthAnswer>; basic?: true }[] = [
  { attack: 'nothing', send: () => post({}) },
  { attack: 'a secret without a client', send: () => post({ client_secret: client.secret }) },
  { attack: 'a wrong secret', send: () => post({ ...own(), client_secret: 'wrong' }) },
  { attack: 'a wrong secret by Basic', send: () => byBasic(client.userId, 'wrong'), basic: true },
  { attack: 'an unknown client', send: () => byBasic('unknown', client.secret), basic: true },
  { attack: 'a request id that would end a quoted string', send: () => sendForm(tokenPath, grant, { headers: { ...basic(client.userId, 'wrong'), 'x-request-id': 'a",b="c\\' } }), basic: true }, // prettier-ignore
  { attack: 'Basic without a colon', send: () => sendForm(tokenPath, grant, { headers: { authorization: 'Basic eHg=' } }), basic: true }, // prettier-ignore
  { attack: 'the bare name', send: () => post({ ...own(), client_id: client.userName }) },
  { attack: 'a human', send: async () => post({ ...own(), client_id: (await newHuman(home)).userId }) },
  {
    attack: 'the administrator’s token as a secret',
    send: () => post({ client_id: 'admin-machine', client_secret: admin().token }),
  },
  { attack: 'the same name in another organization', send: () => confused() },
  { attack: 'a removed secret', send: () => removedSecret() },
]

describe('invalid_client for', () => {
  test.each(unauthenticated)('$attack', async ({ send, basic }) => {
    const { status, body, headers } = await send()
    expect({ status, error: body.error }).toEqual({ status: basic ? 401 : 400, error: 'invalid_client' })
    const challenge = `Basic realm="roster", error="invalid_client", error_description="${body.error_description}"`
    expect(headers.get('www-authenticate')).toBe(basic ? challenge : null)
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  })

  test('a wrong secret and an unknown client, in the same words', async () => {
    // The words have the request id.
    const asR = { 'x-request-id': 'r' }
    const [wrong, unknown] = [
      await post({ ...own(), client_secret: 'x' }, asR),
      await post({ client_id: 'x', client_secret: 'x' }, asR),
    ]
    expect(wrong.body).toEqual(unknown.body)
  })
})

describe('a client is identified by', () => {
  test('its id, or its name with the domain of its organization, in any case', async () => {
    const { userName, secret } = client
    const domain = await domainOf(home)
    for (const id of [client.userId, `${userName}@${domain}`, `${userName.toUpperCase()}@${domain.toUpperCase()}`])
      expect((await byBasic(id, secret)).status).toBe(200)
  })

  test('either of two secrets while one replaces the other', async () => {
    const { userId, secret } = await newClient({ organization: home })
    const { clientSecret } = ok(await call('AddMachineSecret', { userId }, admin()))
    for (const one of [secret, clientSecret]) expect((await byBasic(userId, one)).status).toBe(200)
  })
})

describe('scopes:', () => {
  const scoped = async (scope: string) => (await byBasic(client.userId, client.secret, { scope })).body

  test('the answer lists each requested scope once, or none where none was requested', async () => {
    expect((await scoped('openid  email openid')).scope).toBe('openid email')
    expect((await byBasic(client.userId, client.secret)).body).not.toHaveProperty('scope')
  })

  test('unknown scope, unknown project, project without a grant, two projects: the same invalid_scope', async () => {
    const project = await newProject(home)
    const answers = await Promise.all(
      ['everything', 'project:unknown', `project:${project}`, `project:a project:b`, 'project:', '"'].map(scoped),
    )
    for (const body of answers) expect(body).toEqual({ error: 'invalid_scope', error_description: expect.any(String) })
    expect(new Set(answers.map(({ error_description }) => error_description)).size).toBe(1)
  })
})

test('another grant is unsupported_grant_type', async () => {
  for (const grant_type of ['password', 'implicit', '__proto__', 'constructor'])
    expect(await post({ ...own(), grant_type })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    })
})

test('a resource, also of several, is invalid_target with every grant; an empty one counts as not sent', async () => {
  const [api, other] = ['https://api.example.com', 'urn:another'].map((resource) => form({ resource }))
  const grants = [grant.grant_type, jwtBearer, 'authorization_code', 'refresh_token']
  for (const grant_type of grants)
    for (const named of [api, `resource=&${api}`, `${api}&${other}`, `${api}&${api}`]) {
      const proof = { assertion: await assertion(client), code: 'c', redirect_uri: 'u', refresh_token: 'r' }
      const all = { ...(grant_type !== jwtBearer && own()), grant_type, ...proof }
      expect(await sendForm(tokenPath, `${form(all)}&${named}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid_target' },
      })
    }
  const sent = `${form({ ...grant, ...own() })}&resource=&resource=`
  expect((await sendForm(tokenPath, sent)).status).toBe(200)
  // Introspection knows no `resource`: one that comes twice is refused as any parameter is.
  const twice = await sendForm('/oauth/v2/introspect', `${form({ ...own(), token: 't' })}&${api}&${api}`)
  expect(twice).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

describe('too many failures', () => {
  test('of a client from an address get a time to retry, and the right secret always works', async () => {
    const { userId, secret } = await newClient({ organization: home })
    for (let n = 0; n < 10; n++) expect((await byBasic(userId, 'wrong')).body.error).toBe('invalid_client')
    const answer = await byBasic(userId, 'wrong')
    expect(answer).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(300)
    expect((await byBasic(userId, secret)).status).toBe(200)
  })

  test('of an unknown client get the same answer', async () => {
    const id = unique('unknown')
    for (let n = 0; n < 10; n++) expect((await byBasic(id, 'wrong')).body.error).toBe('invalid_client')
    expect((await byBasic(id, 'wrong')).status).toBe(429)
  })
})

test('the answer to a failure takes 100 ms or more, so that its time does not reveal machines', async () => {
  const { userId } = await newClient({ organization: home })
  const signer = await newClient({ organization: home })
  const tries: (() => Promise<OAuthAnswer>)[] = [
    () => byBasic(userId, 'wrong'),
    () => byBasic(unique('unknown'), 'wrong'),
    async () => grantBy(await assertion(signer, { header: { kid: 'unknown' } })),
    async () => grantBy(await assertion({ ...signer, userId: unique('unknown') })),
  ]
  for (const send of tries) {
    const began = performance.now()
    expect((await send()).status).toBeGreaterThanOrEqual(400)
    expect(performance.now() - began).toBeGreaterThanOrEqual(99)
  }
})

test.skipIf(!house)('the log contains no secret, assertion or token, not even of a refused request', async () => {
  const token = (await byBasic(client.userId, client.secret)).body.access_token as string
  const text = await assertion(client)
  await sendForm(`${tokenPath}?client_secret=${client.secret}&assertion=${text}`, grant)
  await grantBy(text)
  for (const secret of [token, text, client.secret]) recordSecret(secret)
  const log = readFileSync(house!.logFile, 'utf8')
  expect(log).toContain('OAuthService.IssueToken')
  for (const secret of [token, text, client.secret]) expect(log.includes(secret)).toBe(false)
})

function form(fields: Record<string, string>): string {
  return new URLSearchParams(fields).toString()
}

async function signedForm() {
  return { client_assertion_type: assertionType, client_assertion: await assertion(client) }
}

async function confused() {
  await newClient({ organization: abroad, userName: client.userName })
  return post({ ...own(), client_id: `${client.userName}@${await domainOf(abroad)}` })
}

async function removedSecret() {
  const { userId, secret, secretId } = await newClient({ organization: home })
  ok(await call('RemoveMachineSecret', { userId, secretId }, admin()))
  return post({ client_id: userId, client_secret: secret })
}

test('the answer to one failure too many takes as long', async () => {
  const { userId } = await newClient({ organization: home })
  for (const id of [userId, unique('unknown')]) {
    const fail = () => sendForm(tokenPath, { grant_type: clientCredentials }, { headers: basic(id, 'wrong') })
    await Promise.all(Array.from({ length: 10 }, fail))
    const began = performance.now()
    expect((await fail()).status).toBe(429)
    expect(performance.now() - began).toBeGreaterThanOrEqual(99)
  }
})
