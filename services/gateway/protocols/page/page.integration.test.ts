import { hash } from 'node:crypto'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { type Answer, ask, type Request } from '../../testing/raw-calls.ts'
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.ts'

const methods = [
  ...['Authorize', 'ShowSignIn', 'SignIn', 'ChooseAccount', 'Decide', 'ShowLogo'].map(
    (name) => `SignInService.${name}`,
  ),
  ...['ShowAccount', 'EndMySession', 'WithdrawMyConsent', 'LeaveAccount'].map((name) => `AccountService.${name}`),
  'PasswordService.RequestPasswordReset',
  'PasswordService.ResetPassword',
  'AccountService.TakeBackEmail',
  'AccountService.ShowTakeBack',
]
const publicUrl = 'https://id.example.com'
const host = 'id.example.com'
const cookie = '__Host-roster-browser'
const value = 'v'.repeat(43)

let gateway: TestGateway
/** What users got in this test, and what it answers. */
let received: { method: string; request: JsonObject }[]
let answer: () => JsonObject
/** The brand that users gives each organization, and what it was asked. */
let brands: Record<string, JsonObject>
let askedBrands: JsonObject[]

beforeAll(async () => {
  const take = (method: string) => async (request: JsonObject) => {
    received.push({ method, request })
    return answer()
  }
  const operations = methods.map((name): [string, (request: JsonObject) => Promise<JsonObject>] => [
    `roster.users.v1.${name}`,
    take(name.split('.')[1]!),
  ])
  operations.push([
    'roster.users.v1.InternalService.FindPageBrand',
    async (request: JsonObject) => {
      askedBrands.push(request)
      const brand = brands[(request['requestId'] ?? request['organizationId'] ?? '') as string]
      return brand ? { brand } : {}
    },
  ])
  gateway = await startTestGateway(Object.fromEntries(operations), { PUBLIC_URL: publicUrl })
})
afterAll(() => gateway?.stop())
beforeEach(() => {
  received = []
  brands = {}
  askedBrands = []
  answer = () => ({ signIn: {}, formToken: 'token', requestId: 'r1' })
})

const send = (path: string, { headers, ...rest }: Request = {}) =>
  ask(gateway.url + path, { method: 'GET', ...rest, headers: { host, ...headers } })
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } })
const page = '/ui/login/r1'
const filled = 'form_token=t&login_name=ada&password=p&action=sign-in'

describe('what comes in:', () => {
  test('a link has its parameters in the query, and the browser in the cookie', async () => {
    await send('/oauth/v2/authorize?client_id=a%20b&state=x+y&unknown=1&nonce=', {
      headers: { cookie: `other=1; ${cookie}=${value}` },
    })
    const request = { clientId: 'a b', state: 'x y', browser: value }
    expect(received).toEqual([{ method: 'Authorize', request }])
  })

  test('a form has them in its body, and the path names the request', async () => {
    await post(page, `${filled}&request_id=other&browser=forged`, { cookie: `${cookie}=${value}` })
    const request = { requestId: 'r1', formToken: 't', loginName: 'ada', password: 'p', action: 'sign-in' }
    expect(received).toEqual([{ method: 'SignIn', request: { browser: value, ...request } }])
  })

  test('a page of a request is found by its path and the cookie alone', async () => {
    const forged = 'request_id=other&browser=forged&client_id=evil&redirect_uri=https://evil.example&state=evil'
    await send(`${page}?${forged}`, { headers: { cookie: `${cookie}=${value}` } })
    await post(`${page}/decision`, `form_token=t&action=allow&${forged}`, { cookie: `${cookie}=${value}` })
    const found = { browser: value, requestId: 'r1' }
    expect(received).toEqual([
      { method: 'ShowSignIn', request: found },
      { method: 'Decide', request: { ...found, formToken: 't', action: 'allow' } },
    ])
  })

  test('a parameter that comes twice is named, and has no value; of those that are none one is named', async () => {
    const long = 'ü'.repeat(1000)
    const twice = `${long}=1&${long}=2&browser=a&browser=b&posted=true`
    await send(`/oauth/v2/authorize?state=1&state=2&nonce=n&nonce=&${encodeURI(twice)}`)
    expect(received[0]!.request).toEqual({ repeatedParameters: ['state', 'nonce', 'ü'.repeat(200)] })
  })

  test('another site may post a request of an application, which then is marked as posted', async () => {
    await post('/oauth/v2/authorize', 'client_id=a', { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' })
    expect(received[0]!.request).toEqual({ posted: true, clientId: 'a' })
  })

  test.each([
    ['without one', ''],
    ['twice', `${cookie}=${value}; ${cookie}=${'w'.repeat(43)}`],
    ['twice alike', `${cookie}=${value}; ${cookie}=${value}`],
    ['in quotes', `${cookie}="${value}"`],
    ['with a name that another host may set', `roster-browser=${value}`],
    ['with a name in other letters', `${cookie.toLowerCase()}=${value}`],
    ['without end', `${cookie}=${'v'.repeat(300)}`],
  ])('a cookie %s is none', async (_, sent) => {
    await send(page, { headers: { cookie: sent } })
    expect(received[0]!.request).toEqual({ requestId: 'r1' })
  })

  test.each<[string, () => Promise<Answer>, number]>([
    ['a body of more than 16 KiB', () => post(page, `${filled}&x=${'x'.repeat(16 * 1024)}`), 413],
    ['JSON', () => post(page, '{}', { 'content-type': 'application/json' }), 415],
    ['a compressed form', () => post(page, filled, { 'content-encoding': 'gzip' }), 415],
    ['a form with parameters in its address', () => post(`${page}?a=b`, filled), 400],
    ['a link with a body', () => send(page, { headers: { 'content-length': '1' }, body: 'x' }), 400],
    ['what is not percent-encoded', () => send('/oauth/v2/authorize?state=%zz'), 400],
    ['a path that is not', () => send('/ui/login/%zz'), 400],
    ['a character that no database stores', () => send('/oauth/v2/authorize?state=%00'), 400],
    ['an action that there is not', () => post(page, 'action=other'), 400],
  ])('%s is refused with a page', async (_, call, status) => {
    const refused = await call()
    expect(refused).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(received).toEqual([])
  })
})

describe('who sends it:', () => {
  const own = { origin: publicUrl, 'sec-fetch-site': 'same-origin' }

  test('a form of a page of ours is accepted, from a browser that says so, and from one that says nothing', async () => {
    for (const headers of [own, { origin: publicUrl }, {}])
      for (const path of [page, `${page}/account`, `${page}/decision`])
        expect((await post(path, 'form_token=t&action=another-account', headers)).status).toBe(200)
    expect(received).toHaveLength(9)
  })

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${publicUrl}.evil.example` },
    { origin: 'http://id.example.com' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])('a form with %j is refused', async (headers) => {
    for (const path of [page, `${page}/account`, `${page}/decision`])
      expect((await post(path, 'form_token=t&action=another-account', headers)).status).toBe(403)
    expect(received).toEqual([])
  })

  test.each([{ 'sec-purpose': 'prefetch' }, { 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }])(
    'a page that is fetched in advance, with %j, is refused',
    async (headers) => {
      expect((await send(page, { headers })).status).toBe(403)
      expect((await send('/oauth/v2/authorize?client_id=a', { headers })).status).toBe(403)
      expect(received).toEqual([])
    },
  )

  test('HEAD and other verbs reach no page', async () => {
    for (const method of ['HEAD', 'PUT']) {
      const refused = await send(page, { method })
      expect(refused).toMatchObject({ status: 405, headers: { allow: 'GET, POST, OPTIONS' } })
    }
    // What a form does, no link does.
    for (const path of [`${page}/account`, `${page}/decision`])
      expect((await send(`${path}?form_token=t&action=allow`)).status).toBe(405)
    expect(received).toEqual([])
  })

  test('under another host a link leads to PUBLIC_URL, as it is, and a form to a page', async () => {
    const elsewhere = { host: 'other.example:8080' }
    const sent = await send('/oauth/v2/authorize?client_id=a&state=%0d%0a', { headers: elsewhere })
    const location = `${publicUrl}/oauth/v2/authorize?client_id=a&state=%0d%0a&host_other=1`
    expect(sent).toMatchObject({ status: 302, headers: { location, 'cache-control': 'no-store' } })
    expect((await post(page, filled, elsewhere)).status).toBe(421)
    expect(received).toEqual([])
  })

  test('where a proxy writes another host, or none, a link is led on once: then a page names it, and one warning', async () => {
    const behind = await startTestGateway({}, { PUBLIC_URL: publicUrl })
    onTestFinished(() => behind.stop())
    const ask = async (path: string, named: string) => {
      const socket = connect(behind.port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\n${named}connection: close\r\n\r\n`)
      return (await buffer(socket)).toString()
    }
    const rounds = async (named: string, query = '') => {
      const first = await ask(`/ui/account${query}`, named)
      const location = /^location: (.*)\r$/im.exec(first)![1]!
      expect(location.startsWith(`${publicUrl}/ui/account`)).toBe(true)
      return ask(location.replace(publicUrl, ''), named)
    }
    const shown = /^HTTP\/1.1 421 [^]*<bdi>(.*)<\/bdi>[^]*<bdi>id.example.com<\/bdi>/
    expect(shown.exec(await rounds('host: gateway:8080\r\n'))![1]).toBe('gateway:8080')
    expect(shown.exec(await rounds('host: id.example.com.\r\n', '?a=b'))![1]).toBe('id.example.com.')
    expect(shown.exec(await rounds(''))![1]).toBe('–')
    expect(shown.exec(await rounds('host:\r\n'))![1]).toBe('–')
    const told = behind.log.filter(({ level }) => level === 40)
    expect(told).toMatchObject([{ host: 'gateway:8080', publicUrl }])
  })

  test('a host is the same in capital letters, and with any port', async () => {
    for (const same of ['ID.example.com', 'id.example.com:443', 'id.example.com:8080'])
      expect((await send(page, { headers: { host: same } })).status).toBe(200)
  })

  test('no program of another page may call a page or read it', async () => {
    const origin = 'https://app.example'
    const preflight = { origin, 'access-control-request-method': 'POST' }
    for (const path of [page, '/oauth/v2/authorize', '/ui/forgot-password']) {
      for (const asked of [
        await send(path, { headers: { origin } }),
        await send(path, { method: 'OPTIONS', headers: preflight }),
      ])
        expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  test('conditions, a token and an organization do not belong to a page', async () => {
    const headers = { 'idempotency-key': 'k', 'if-match': 'x', authorization: 'Bearer x', 'x-service-orgid': '\u00ff' }
    expect((await post(page, filled, headers)).status).toBe(200)
  })
})

describe('what goes out:', () => {
  const headersOf = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  }

  test('a page may load nothing, run its own script alone, lie in no frame and be kept by no cache', async () => {
    const { status, headers, body } = await send(page)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ ...headersOf, 'content-type': 'text/html; charset=utf-8' })
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; script-src 'sha256-[\w+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    for (const name of ['cross-origin-opener-policy', 'set-cookie', 'content-encoding', 'etag'])
      expect(headers).not.toHaveProperty(name)
    expect(body.length).toBeLessThan(10_000)
    const [before, script, after, ...more] = body.toString().split(/<\/?script>/)
    expect(more).toEqual([])
    expect(headers['content-security-policy']).toContain(hash('sha256', script!, 'base64'))
    expect(before! + after!).not.toMatch(/ style=| on\w+=|<script|<link/)
  })

  test('a page has the style of its brand, of which nothing else may be loaded', async () => {
    const style = async (brand: JsonObject) => {
      answer = () => ({ signIn: {}, brand })
      const { status, headers, body } = await send(page)
      const [, css] = /<style>(.*)<\/style>/s.exec(body.toString()) ?? []
      if (css)
        expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash('sha256', css, 'base64')}'`)
      return [status, css?.split('}\n').at(-1)]
    }
    expect(
      await style({ lightTheme: { primaryColor: '#7A1fa2', onPrimaryColor: '#ffffff' }, cornerRadius: 0 }),
    ).toEqual([
      200,
      ':root{--radius:0px;}@media (prefers-color-scheme:light){:root{--accent:#7A1fa2;--on-accent:#ffffff;}}@media (prefers-color-scheme:dark){:root{}}',
    ])
    expect(await style({ darkTheme: { backgroundColor: '#101418' } })).toEqual([
      200,
      ':root{}@media (prefers-color-scheme:light){:root{}}@media (prefers-color-scheme:dark){:root{--card:#101418;--ground:#101418;}}',
    ])
    // What is no colour gets into no style.
    expect(await style({ darkTheme: { primaryColor: '#000;}*{display:none' } })).toEqual([500, ''])
  })

  test('the links of an organization stand at the foot of each page, and open beside it', async () => {
    answer = () => ({ signIn: {}, brand: { privacyPolicyLink: 'https://a.example/p?a=1&b=2', tosLink: '' } })
    const foot = async () => /<footer>.*<\/footer>/s.exec((await send(page)).body.toString())?.[0]
    expect(await foot()).toBe(
      '<footer><a href="https://a.example/p?a=1&amp;b=2" target="_blank" rel="noreferrer">Privacy</a></footer>',
    )
    answer = () => ({ signIn: {}, brand: {} })
    expect(await foot()).toBeUndefined()
    answer = () => ({ signIn: {}, brand: { helpLink: 'javascript:alert(1)' } })
    expect((await send(page)).status).toBe(500)
  })

  test('a logo is kept for ever, as an image and nothing else; one that is no more is not', async () => {
    const address = `/ui/logo/${'h'.repeat(43)}`
    answer = () => ({ logo: { content: Buffer.from('any bytes').toString('base64') } })
    const { status, headers, body } = await send(address)
    expect([status, body.toString()]).toEqual([200, 'any bytes'])
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(received).toEqual([{ method: 'ShowLogo', request: { hash: 'h'.repeat(43) } }])
    answer = () => ({ logo: {} })
    expect(await send(address)).toMatchObject({ status: 404, headers: { 'cache-control': 'no-store' } })
    answer = () => ({ signIn: {}, brand: { logoHash: '"><b>' } })
    expect((await send(page)).body.toString()).toContain(
      '<img class="logo" src="/ui/logo/&quot;&gt;&lt;b&gt;" alt="" />',
    )
  })

  test('a new value of the cookie belongs to this host alone, and no script reads it', async () => {
    answer = () => ({ redirect: { location: page }, newBrowser: value })
    const { headers } = await post(page, filled)
    expect(headers['set-cookie']).toEqual([`${cookie}=${value}; Path=/; HttpOnly; SameSite=Lax; Secure`])
    answer = () => ({ redirect: { location: page }, newBrowser: value, newBrowserLifetime: 60 })
    const { headers: kept } = await post(page, filled)
    expect(kept['set-cookie']).toEqual([`${cookie}=${value}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure`])
  })

  test.each([page, 'https://app.example/cb?code=1&state=%0D%0A', 'com.example.app:/cb?x=1', 'http://[::1]:1234/cb'])(
    'a browser is sent to %s with 302 after a link, and with 303 after a form',
    async (location) => {
      answer = () => ({ redirect: { location } })
      expect(await send('/oauth/v2/authorize')).toMatchObject({ status: 302, headers: { ...headersOf, location } })
      expect(await post(page, filled)).toMatchObject({ status: 303, headers: { ...headersOf, location } })
    },
  )

  const nowhere = [
    'https://app.example/\r\nset-cookie: a=b',
    'https://app.example/ü',
    'https://app.example/a b',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/\\evil.example',
    'evil',
    '',
  ]
  test.each(nowhere)('nobody is sent to %j', async (location) => {
    answer = () => ({ redirect: { location } })
    for (const refused of [await send(page), await post(page, filled)]) {
      expect(refused.status).toBe(500)
      expect(refused.headers).not.toHaveProperty('location')
    }
  })

  test.each(nowhere.filter(Boolean))('no page leads to %j', async (location) => {
    for (const kind of [
      { leaving: { location } },
      { formPost: { action: location } },
      { notice: { location } },
      { notice: { applicationOrigin: location } },
    ]) {
      answer = () => kind
      const refused = await send(page)
      expect(refused.status).toBe(500)
      expect(refused.body.toString()).not.toContain('evil')
    }
  })

  test('an own scheme gets no form', async () => {
    answer = () => ({ formPost: { action: 'com.example.app:/cb' } })
    expect((await send(page)).status).toBe(500)
  })

  test('only the page that posts to an application has a script, and any target', async () => {
    const action = 'https://app.example/cb'
    answer = () => ({ formPost: { action, parameters: { code: 'c', state: '"><script>' } } })
    const { headers, body } = await send(page)
    const policy = headers['content-security-policy']
    expect(policy).not.toContain('form-action')
    expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; base-uri/)
    expect(body.toString()).toContain('name="state" value="&quot;&gt;&lt;script&gt;"')
  })

  test.each([
    ['TOO_LARGE', 413],
    ['CANCELLED', 200],
    ['CLIENT_UNKNOWN', 400],
    ['REQUEST_UNKNOWN', 400],
  ])('a notice of %s has the status %i', async (reason, status) => {
    answer = () => ({ notice: { reason: `NOTICE_REASON_${reason}` } })
    expect((await send(page)).status).toBe(status)
  })
})

describe('what fails:', () => {
  const failing = (...error: ConstructorParameters<typeof RosterError>) => {
    answer = () => {
      throw new RosterError(...error)
    }
  }

  test('without users there is a page of our own, with the time of the next try and a link', async () => {
    failing('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'inner text', { retryAfter: 7 })
    const asked = await send('/oauth/v2/authorize?client_id=%22%3E&x=y', { headers: { 'accept-language': 'de' } })
    expect(asked).toMatchObject({ status: 503, headers: { 'retry-after': '7' } })
    const body = asked.body.toString()
    expect(body).toContain('<html lang="de">')
    expect(body).toContain('in 7 Sekunden')
    expect(body).toContain('<a href="/oauth/v2/authorize?client_id=%22%3E&amp;x=y">Erneut versuchen</a>')
    expect(body).not.toContain('inner')
    expect((await post(`${page}/account`, 'form_token=t')).body.toString()).not.toContain('<a')
  })

  test.each(['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'PERMISSION_DENIED', 'INTERNAL', 'UNAVAILABLE'] as const)(
    'a page that says %s shows no word of the request, nor of the error',
    async (code) => {
      const evil = '"><script>evil</script>'
      failing(code, 'ANY', evil)
      const names = ['error', 'error_description', 'error_hint', 'client_id', 'redirect_uri', 'state', 'login_hint']
      const parameters = new URLSearchParams(Object.fromEntries(names.map((name) => [name, evil])))
      const { body } = await send(`/oauth/v2/authorize?${String(parameters)}`)
      const text = body.toString()
      expect(text).not.toContain('<script')
      expect(text.replaceAll(/<[^>]*>/g, '')).not.toContain('evil')
    },
  )

  test('a late answer is no other page than a missing one', async () => {
    failing('DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED', 'late')
    expect(await send(page)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
  })

  test('where users does not offer sign-in, a page says that it is not available', async () => {
    failing('UNIMPLEMENTED', 'UNIMPLEMENTED', 'not here')
    const asked = await send(page)
    expect(asked.status).toBe(501)
    expect(asked.body.toString()).toContain('Sign-in is not available')
  })

  test('a fault of Roster shows nothing of it', async () => {
    answer = () => {
      throw new Error('secret inside')
    }
    const asked = await send(page)
    expect(asked.status).toBe(500)
    expect(asked.body.toString()).not.toContain('secret')
  })
})

describe('a form of a page that calls an operation:', () => {
  test('it fills the request, and leads to the page that follows', async () => {
    answer = () => ({})
    const sent = await post('/ui/forgot-password', 'login_name=ada', { origin: publicUrl })
    expect(sent).toMatchObject({ status: 303, headers: { location: '/ui/code-sent' } })
    expect((await post('/ui/reset-password', 'user_id=u&verification_code=c&new_password=password')).status).toBe(303)
    expect(received.map(({ request }) => request)).toEqual([
      { loginName: 'ada' },
      { userId: 'u', verificationCode: 'c', newPassword: 'password' },
    ])
    for (const { headers } of [sent, await send('/ui/reset-password'), await send('/ui/password-set')])
      expect(headers['referrer-policy']).toBe('same-origin')
  })

  test('another site cannot send it, and the path of the operation reads none', async () => {
    const foreign = { origin: 'https://evil.example' }
    expect((await post('/ui/forgot-password', 'login_name=ada', foreign)).status).toBe(403)
    expect((await post('/v2/users/password_reset', 'login_name=ada')).status).toBe(415)
    expect(received).toEqual([])
  })

  test('a page says what is wrong', async () => {
    let reason = 'CODE_INVALID'
    answer = () => {
      throw new RosterError('INVALID_ARGUMENT', reason, 'x')
    }
    const refused = await post('/ui/reset-password', 'user_id=u&verification_code=c&new_password=password')
    expect(refused.status).toBe(400)
    expect(refused.body.toString()).toContain('This code does not work')
    expect((await post('/ui/forgot-password', '')).status).toBe(400)
    reason = 'PASSWORD_TOO_COMMON'
    const common = await post('/ui/reset-password', 'user_id=u&verification_code=c&new_password=password')
    expect(common.status).toBe(400)
    expect(common.body.toString()).toContain('too easy to guess')
  })

  test('its page is there for GET and HEAD', async () => {
    expect((await send('/ui/forgot-password', { method: 'HEAD' })).status).toBe(200)
    expect((await send('/ui/forgot-password', { method: 'PUT' })).headers['allow']).toBe('GET, POST, OPTIONS')
  })
})

describe('a page that users does not answer has the brand', () => {
  // The gateway remembers brands for a second, so each test has organizations of its own.
  let number = 0
  const newBrand = (more: JsonObject = {}) => {
    const organizationId = `organization-${number++}`
    const primaryColor = '#7a1fa2'
    brands[organizationId] = { lightTheme: { primaryColor, onPrimaryColor: '#ffffff' }, ...more }
    return organizationId
  }
  const textOf = ({ body }: Answer) => body.toString()
  const isBranded = (reply: Answer) => textOf(reply).includes('--accent:#7a1fa2')

  test.each(['forgot-password', 'reset-password', 'verify-email', 'code-sent', 'password-set', 'index'])(
    'of the organization in its address: %s',
    async (name) => {
      const hashes = { logoHash: 'l'.repeat(43), darkLogoHash: 'd'.repeat(43), iconHash: 'i'.repeat(43) }
      const of = newBrand({ ...hashes, helpLink: 'https://acme.example/help?a=1&b=2' })
      const headers = { 'accept-language': 'de' }
      const reply = await send(`/ui/${name}?organization_id=${of}`, { headers })
      const text = textOf(reply)
      const [, style] = /<style>([^]*?)<\/style>/.exec(text)!
      expect(style).toContain('--accent:#7a1fa2')
      expect(reply.headers['content-security-policy']).toContain(
        `style-src 'self' 'sha256-${hash('sha256', style!, 'base64')}'`,
      )
      expect(text).toContain(`<link rel="icon" type="image/png" href="/ui/logo/${hashes.iconHash}" />`)
      expect(text).toMatch(
        /<main>\s*<picture><source srcset="\/ui\/logo\/d{43}" media="\(prefers-color-scheme: dark\)"/,
      )
      expect(text).toContain('href="https://acme.example/help?a=1&amp;b=2" target="_blank" rel="noreferrer">Hilfe</a>')
      const again = await send(`/ui/${name}?organization_id=${of}`, {
        headers: { ...headers, 'if-none-match': String(reply.headers['etag']) },
      })
      expect(again.status).toBe(304)
      // Without an address of an organization, or with another's, it has not.
      for (const query of ['', '?organization_id=unknown', '?organization_id=%22%3E%3Cb%3E'])
        expect(isBranded(await send(`/ui/${name}${query}`))).toBe(false)
    },
  )

  test('where no script runs, on the page after the form, too', async () => {
    const of = newBrand()
    const field = `<input type="hidden" name="organization_id" value="${of}" />`
    for (const form of ['forgot-password', 'reset-password'])
      expect(textOf(await send(`/ui/${form}?organization_id=${of}`))).toContain(field)
    answer = () => ({})
    const sent = await post('/ui/forgot-password', `login_name=ada&organization_id=${of}`)
    expect(sent.headers['location']).toBe(`/ui/code-sent?organization_id=${of}`)
    const evil = await post('/ui/forgot-password', 'login_name=ada&organization_id=%0d%0aa:%20b')
    expect(evil.headers['location']).toBe('/ui/code-sent')
    answer = () => {
      throw new RosterError('INVALID_ARGUMENT', 'CODE_INVALID', 'x')
    }
    const wrong = `user_id=u&verification_code=c&new_password=password&organization_id=${of}`
    const refused = await post('/ui/reset-password', wrong)
    expect([refused.status, isBranded(refused)]).toEqual([400, true])
  })

  test('of the request whose page fails, in its browser', async () => {
    answer = () => {
      throw new RosterError('INVALID_ARGUMENT', 'X', 'x')
    }
    const request = newBrand()
    const headers = { cookie: `${cookie}=${value}` }
    expect(isBranded(await send(`/ui/login/${request}`, { headers }))).toBe(true)
    expect(askedBrands).toEqual([{ requestId: request, browser: value }])
  })

  test('as it was, where too much is asked: then nobody is asked for a brand', async () => {
    const of = newBrand()
    expect(isBranded(await send(`/ui/code-sent?organization_id=${of}`))).toBe(true)
    answer = () => {
      throw new RosterError('RESOURCE_EXHAUSTED', 'X', 'x')
    }
    askedBrands = []
    const often = await post('/ui/take-back', `secret=x&organization_id=${of}`)
    const other = await post('/ui/take-back', `secret=x&organization_id=${newBrand()}`)
    expect([isBranded(often), isBranded(other), askedBrands]).toEqual([true, false, []])
    expect(textOf(often)).toContain(`<a href="/ui/take-back?organization_id=${of}">`)
  })

  test('through the page that takes an address back', async () => {
    const of = newBrand()
    answer = () => ({ takeBack: {} })
    expect(textOf(await send(`/ui/take-back?organization_id=${of}`))).toContain(
      `<input type="hidden" name="organization_id" value="${of}" />`,
    )
    answer = () => ({ notice: { reason: 'NOTICE_REASON_TAKEN_BACK' } })
    const back = await post('/ui/take-back', `secret=x&organization_id=${of}`)
    expect(received.at(-1)!.request).toEqual({ secret: 'x', organizationId: of })
    expect(textOf(back)).toContain(`href="/ui/forgot-password?organization_id=${of}"`)
  })
})

test('each page of an account has at most fifty kilobytes, whatever names there are', async () => {
  const date = '2026-11-26T15:54:00Z'
  const longest = '"'.repeat(200)
  const scopes = ['openid', 'profile', 'email', 'roles', 'offline_access', `urn:zitadel:iam:org:id:${'1'.repeat(200)}`]
  const eight = <T>(one: T) => Array.from({ length: 8 }, () => one)
  const client = { address: '2001:db8:1234:5678::/64', browser: 'b'.repeat(40), system: 's'.repeat(40) }
  const signIn = { sessionId: 'i'.repeat(36), signInDate: date, applicationName: longest, client, isPartial: true }
  const dates = { creationDate: date, lastUseDate: date, expirationDate: date }
  const session = { id: 'i'.repeat(36), inBrowser: true, ...dates, lastSignIn: signIn }
  const signIns = { signIns: eight(signIn), keptDays: 90 }
  const consent = { applicationId: 'i'.repeat(36), applicationName: longest, scopes, givenDate: date }
  const part = { total: 1000, nextCursor: 'c'.repeat(300), goesOn: true }
  const account = { displayName: longest, loginName: longest }
  const names = { givenName: longest, familyName: longest, displayName: longest }
  const pages: JsonObject[] = [
    { profile: { ...names, userName: longest, language: 'de' } },
    { section: 'activity', sessions: { sessions: eight(session), ...part }, signIns: { ...signIns, ...part } },
    { section: 'apps', consents: { consents: eight(consent), ...part } },
    ...['sign-in', 'data', 'email', 'password', 'removal'].map((section) => ({ section })),
  ]
  for (const page of pages) {
    answer = () => ({ formToken: 'f'.repeat(200), account: { account, email: longest, ...page } })
    const { body } = await send('/ui/account?ui_locales=de')
    expect(body.length).toBeLessThan(50_000)
  }
})

test('the policy has the hash of the style sheet and of the script that are in the page', async () => {
  answer = () => ({ formPost: { action: 'https://app.example/cb' } })
  const { headers, body } = await send(page)
  for (const name of ['style', 'script']) {
    const text = new RegExp(`<${name}>(.+)</${name}>`, 's').exec(body.toString())![1]!
    expect(headers['content-security-policy']).toContain(`${name}-src 'sha256-${hash('sha256', text, 'base64')}'`)
  }
})
