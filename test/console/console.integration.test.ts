import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callJson } from '../e2e/clients/json.ts'
import { behindProxy } from './behind-proxy.ts'
import { clock } from './clock.ts'
import { reasonOf, statusOverHttp2 } from './console-browser.ts'
import { me, ownOrganization } from './console-house.ts'
import { ends } from './ends.ts'
import { signingIn } from './sign-in.ts'
import { ada, browser, enter, house, session, setStage } from './stage.ts'

// One Roster serves all these files. The clock comes last, since it does not go back.
beforeAll(setStage, 120_000)
afterAll(() => house?.stop())

signingIn()

describe('what a call needs:', () => {
  beforeAll(enter)

  const without = (headers: Record<string, string>, name: string) =>
    Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name))
  const bearer = () => ({ authorization: `Bearer ${house.adminToken}` })

  test.each<[string, (headers: Record<string, string>) => Record<string, string>, string]>([
    ['as it should be', (own) => own, '200'],
    ['without the header of the session', (own) => without(own, 'roster-console-session'), '401 TOKEN_MISSING'],
    ['without a cookie', (own) => ({ ...own, cookie: '' }), '401 CONSOLE_SESSION_ENDED'],
    [
      'with another cookie',
      (own) => ({ ...own, cookie: `__Host-roster-console=${'v'.repeat(43)}` }),
      '401 CONSOLE_SESSION_ENDED',
    ],
    [
      'with the cookie twice',
      (own) => ({ ...own, cookie: `${own['cookie']!}; ${own['cookie']!}` }),
      '401 CONSOLE_SESSION_ENDED',
    ],
    ['with a token, too', (own) => ({ ...own, ...bearer() }), '400 CONSOLE_SESSION_AMBIGUOUS'],
    [
      'with the name of another session',
      (own) => ({ ...own, 'roster-console-session': 'other' }),
      '409 CONSOLE_SESSION_OTHER',
    ],
    ['without an origin', (own) => without(own, 'origin'), '403 ORIGIN_REFUSED'],
    ['from another origin', (own) => ({ ...own, origin: 'https://evil.example' }), '403 ORIGIN_REFUSED'],
    ['from another port', (own) => ({ ...own, origin: `${house.publicUrl}:8443` }), '403 ORIGIN_REFUSED'],
    ['from a sandbox', (own) => ({ ...own, origin: 'null' }), '403 ORIGIN_REFUSED'],
    ['from the same site', (own) => ({ ...own, 'sec-fetch-site': 'same-site' }), '403 CONSOLE_SESSION_REFUSED'],
    ['from another site', (own) => ({ ...own, 'sec-fetch-site': 'cross-site' }), '403 CONSOLE_SESSION_REFUSED'],
    [
      'where the browser does not say from where',
      (own) => without(own, 'sec-fetch-site'),
      '403 CONSOLE_SESSION_REFUSED',
    ],
  ])('a call %s', async (_, change, expected) => {
    const headers = change(browser.own({ 'roster-console-session': session }))
    const answer = await fetch(`${house.url}/roster.${me}`, { method: 'POST', headers, body: '{}' })
    expect(reasonOf({ status: answer.status, body: await answer.json() })).toBe(expected)
  })

  test.each<[string, string, RequestInit, string]>([
    ['JSON over its path', '/auth/v1/users/me', { method: 'GET' }, '403 CONSOLE_SESSION_REFUSED'],
    [
      'Connect by GET',
      `/roster.${ownOrganization}?connect=v1&encoding=json&message=%7B%7D`,
      { method: 'GET' },
      '403 CONSOLE_SESSION_REFUSED',
    ],
    [
      'Connect in protobuf',
      `/roster.${me}`,
      { method: 'POST', headers: { 'content-type': 'application/proto' }, body: '' },
      '403 CONSOLE_SESSION_REFUSED',
    ],
    [
      'a method of the reference system',
      '/zitadel.user.v2.UserService/DeleteUser',
      { method: 'POST', body: '{"userId":"x"}' },
      '403 CONSOLE_SESSION_REFUSED',
    ],
  ])('%s is no way in', async (_, path, init, expected) => {
    const headers = { ...browser.own({ 'roster-console-session': session }), ...(init.headers as object) }
    const answer = await fetch(house.url + path, { ...init, headers })
    expect(reasonOf({ status: answer.status, body: await answer.json() })).toBe(expected)
  })

  test('gRPC-web is no way in', async () => {
    const headers = browser.own({ 'roster-console-session': session, 'content-type': 'application/grpc-web+proto' })
    const body = Buffer.from([0, 0, 0, 0, 0])
    const answer = await fetch(`${house.url}/roster.${me}`, { method: 'POST', headers, body })
    const trailers = (await answer.text()) + String(answer.headers.get('grpc-status'))
    expect(trailers).toMatch(/grpc-status: ?7|7$/)
  })

  test('the cookie is no token, and the cookie of the sign-in opens no operation', async () => {
    const value = browser.jar.get('__Host-roster-console')!
    for (const token of [value, browser.jar.get('__Host-roster-browser')!]) {
      const answer = await callJson('GetMyUser', {}, { url: house.url, token })
      expect(answer.http).toBe(401)
    }
    const forged = `__Host-roster-console=${browser.jar.get('__Host-roster-browser')!}`
    expect(reasonOf(await browser.call(me, session, {}, { cookie: forged }))).toBe('401 CONSOLE_SESSION_ENDED')
    const { sessionToken } = await house.act('CreateSession', { loginName: ada.name, password: ada.password })
    const ofToken = `__Host-roster-console=${sessionToken}`
    expect(reasonOf(await browser.call(me, session, {}, { cookie: ofToken }))).toBe('401 CONSOLE_SESSION_ENDED')
  })

  test('over HTTP/2, which splits cookies, it is the same', async () => {
    const headers = browser.own({ 'roster-console-session': session, cookie: `a=1; ${browser.cookies()}` })
    expect(await statusOverHttp2(house.url, `/roster.${me}`, headers)).toBe(200)
  })

  test('no answer lets pages of other origins send the header, or read anything of the console', async () => {
    const ask = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'roster-console-session',
    }
    for (const path of [`/roster.${me}`, '/ui/console/session', '/ui/console/sign-out']) {
      const { headers } = await fetch(house.url + path, { method: 'OPTIONS', headers: ask })
      expect(headers.get('access-control-allow-headers') ?? '').not.toContain('roster-console')
      expect(headers.get('access-control-allow-credentials')).toBe(null)
      if (path.startsWith('/ui/')) expect(headers.get('access-control-allow-origin')).toBe(null)
    }
  })

  test('whoever is signed in by now is named, and nothing is done for them that another page asked for', async () => {
    const bob = await house.newPerson(['ORG_OWNER'], 'Bob')
    const { browser, session } = await house.signIn(ada)
    browser.jar.delete('__Host-roster-browser')
    const { session: ofBob } = await house.signIn(bob, browser)
    const name = `x-${randomBytes(6).toString('hex')}`
    const refused = await browser.call('grants.v1.ProjectService/AddProject', session, { name })
    expect(reasonOf(refused)).toBe('409 CONSOLE_SESSION_OTHER')
    expect(JSON.stringify(refused.body)).toContain(ofBob)
    expect((await browser.session()).body).toMatchObject({ session: ofBob, displayName: 'Bob' })
    const { body } = await browser.call('grants.v1.ProjectService/SearchProjects', ofBob)
    expect(JSON.stringify(body)).not.toContain(name)
    // The cookie of the former session is gone, not only replaced.
    expect(await house.sql`select from tokens where authorization_id = ${session}`).toHaveLength(0)
  })
})

ends()
behindProxy()
clock()
