import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { byGrpcPath } from '../call/routes.ts'
import {
  callConnect,
  callConnectJson,
  callGrpc,
  callGrpcWeb,
  callGrpcWebText,
  callJson,
  send,
} from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const createSession = 'roster.users.v1.SessionService.CreateSession'
const introspectToken = 'roster.users.v1.OAuthService.IntrospectToken'
const issueToken = 'roster.users.v1.OAuthService.IssueToken'
const getUser = 'roster.users.v1.UserService.GetUser'
const [own, named, foreign] = ['https://id.example.com', 'https://app.example', 'https://evil.example']
const encodings = [
  ['json', callJson],
  ['grpc', callGrpc],
  ['grpc-web', callGrpcWeb],
  ['grpc-web-text', callGrpcWebText],
  ['connect', callConnect],
  ['connect-json', callConnectJson],
] as const
const guess = { loginName: 'ada', password: 'a guess' }
const paths = [
  '/v2/sessions',
  `/${createSession.replace(/\.(\w+)$/, '/$1')}`,
  '/zitadel.session.v2.SessionService/CreateSession',
]

let gateway: TestGateway
let reached: string[]

const begin = (CORS_ORIGINS: string) => async () => {
  const reach = (name: string) => () => {
    reached.push(name)
    return {}
  }
  const operations = Object.fromEntries(
    [createSession, introspectToken, issueToken, getUser].map((name) => [name, reach(name)]),
  )
  gateway = await startTestGateway(operations, { PUBLIC_URL: own, CORS_ORIGINS })
}
const signInFrom = async (call: (typeof encodings)[number][1], origin?: string) => {
  reached = []
  const { status } = await call(gateway.url, createSession, guess, origin === undefined ? {} : { origin })
  const [detail] = (status as { details: { reason?: string }[] } | undefined)?.details ?? []
  return [detail?.reason ?? 'in', reached.length]
}
const ask = (method: string, path: string, headers: Record<string, string>, body = '') => {
  reached = []
  return send(gateway.url, { method, path, headers, body })
}
const allowed = ({ headers }: { headers: Record<string, unknown> }) => headers['access-control-allow-origin']
const json = { 'content-type': 'application/json' }

test('only what checks or sends a secret without a token is closed to pages of other origins', () => {
  const closed = [...byGrpcPath.values()].filter(({ namedOrigins }) => namedOrigins)
  expect(closed.map(({ path }) => path).toSorted()).toEqual([
    '/roster.users.v1.OAuthService/IntrospectToken',
    '/roster.users.v1.OAuthService/LogOutByProvider',
    '/roster.users.v1.PasswordService/RequestPasswordReset',
    '/roster.users.v1.PasswordService/ResetPassword',
    '/roster.users.v1.SessionService/CreateSession',
    '/roster.users.v1.UserService/VerifyEmail',
    '/roster.users.v1.UserService/VerifyInviteCode',
    '/zitadel.session.v2.SessionService/CreateSession',
    '/zitadel.session.v2beta.SessionService/CreateSession',
    '/zitadel.user.v2.UserService/VerifyEmail',
    '/zitadel.user.v2.UserService/VerifyInviteCode',
    '/zitadel.user.v2beta.UserService/VerifyEmail',
  ])
})

describe.each([
  ['no origin is configured', '', []],
  ['any origin is', '*', []],
  ['some are', `${named},null`, [named, 'null']],
])('where %s', (_, origins, configured) => {
  beforeAll(begin(origins))
  afterAll(() => gateway.stop())

  test.each(encodings)(
    'a guess in %s reaches users from no page of another origin that is not named',
    async (_, call) => {
      for (const origin of [undefined, own, ...configured]) expect(await signInFrom(call, origin)).toEqual(['in', 1])
      for (const origin of [foreign, named, 'null', '*', `${own}.evil.example`, 'http://id.example.com', gateway.url])
        if (!configured.includes(origin)) expect(await signInFrom(call, origin)).toEqual(['ORIGIN_REFUSED', 0])
    },
  )

  test('and no such page reads an answer, nor does its preflight pass', async () => {
    for (const path of paths)
      for (const origin of [foreign, named]) {
        const expected = configured.includes(origin) ? origin : undefined
        const preflight = { origin, 'access-control-request-method': 'POST' }
        expect(allowed(await ask('OPTIONS', path, preflight))).toBe(expected)
        expect(allowed(await ask('POST', path, { ...json, origin }, JSON.stringify(guess)))).toBe(expected)
      }
  })

  test('a form or a plain text of such a page, which no preflight precedes, does nothing either', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'])
      for (const path of paths) {
        const headers = { origin: foreign, 'content-type': type }
        const { status } = await ask('POST', path, headers, JSON.stringify(guess))
        expect([403, 415]).toContain(status)
        expect(reached).toEqual([])
      }
    const form = { origin: foreign, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await ask('POST', '/oauth/v2/introspect', form, 'token=t&client_id=c&client_secret=s')).status).toBe(403)
    expect(reached).toEqual([])
    const token = await ask('POST', '/oauth/v2/token', form, 'grant_type=client_credentials&client_id=c')
    expect([allowed(token), reached]).toEqual(['*', [issueToken]])
  })

  test('what needs a token goes on as configured', async () => {
    const headers = { origin: named, authorization: 'Bearer admin' }
    expect(allowed(await ask('GET', '/v2/users/u1', headers))).toBe(configured.length > 0 ? named : '*')
    expect(reached).toEqual([getUser])
  })
})
