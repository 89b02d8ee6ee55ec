import { expect, test } from 'vitest'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import { hostOf, isRegistered, mayBeAnybodys, originOf } from './redirect-uri.ts'
import { oidc } from '../authorization/testing/visitors.ts'

const { OIDC_APP_TYPE_NATIVE: native, OIDC_APP_TYPE_WEB: web } = OIDCAppType
const uri = 'https://app.example.com/callback?a=b'

// Each of these leads somewhere else, or is read so by somebody.
const others = [
  '',
  'https://app.example.com/callback',
  'https://app.example.com/callback?a=b&c=d',
  'https://app.example.com/callback?a=b#',
  'https://app.example.com/callback?a=b#x',
  'https://app.example.com/callback?a=b ',
  ' https://app.example.com/callback?a=b',
  'https://app.example.com/callback?a=b\n',
  'https://app.example.com/callback\r\n?a=b',
  'https://app.example.com/callback/?a=b',
  'https://app.example.com/Callback?a=b',
  'https://app.example.com/callback?A=b',
  'https://app.example.com//callback?a=b',
  'https://app.example.com/./callback?a=b',
  'https://app.example.com/x/../callback?a=b',
  'https://app.example.com/%63allback?a=b',
  'https://app.example.com/callback%3Fa=b',
  'https://app.example.com/callback?a=%62',
  'https://app.example.com\\callback?a=b',
  'https:\\\\app.example.com/callback?a=b',
  'https:/app.example.com/callback?a=b',
  'https:app.example.com/callback?a=b',
  '//app.example.com/callback?a=b',
  '/callback?a=b',
  'app.example.com/callback?a=b',
  'HTTPS://app.example.com/callback?a=b',
  'https://APP.example.com/callback?a=b',
  'https://app.example.com./callback?a=b',
  'https://app.example.com:443/callback?a=b',
  'https://app.example.com:/callback?a=b',
  'https://app.example.com:8443/callback?a=b',
  'http://app.example.com/callback?a=b',
  'https://user@app.example.com/callback?a=b',
  'https://app.example.com@evil.example/callback?a=b',
  'https://evil.example/https://app.example.com/callback?a=b',
  'https://app.example.com.evil.example/callback?a=b',
  'https://evil-app.example.com/callback?a=b',
  'https://x.app.example.com/callback?a=b',
  'https://app.example.com/callback?a=b/../../evil',
  'https://app.example.com/callback;x?a=b',
  'https://app.example.com/x/..;/callback?a=b',
  'https://app.example.com/callback/..;/evil?a=b',
  'https://app.example.com/*',
  'https://app.example.com/callback?a=b\u0000',
  'https://app.example.com/callback\u200b?a=b',
  'https://аpp.example.com/callback?a=b',
  'https://app.example.com/callback?a=b%00',
  'https://app.example.com/callback?a=b&',
  'https://app.example.com/callback?',
  'javascript:https://app.example.com/callback?a=b',
  'data:text/html,https://app.example.com/callback?a=b',
  'https://app.example.com/callback?a=b,https://evil.example',
  '["https://app.example.com/callback?a=b"]',
]

test('a redirect URI is compared byte for byte', () => {
  for (const appType of [web, native]) {
    const config = { ...oidc, appType, redirectUris: ['https://other.example.com', uri] }
    expect(isRegistered(uri, config)).toBe(true)
    for (const other of others) expect([other, isRegistered(other, config)]).toEqual([other, false])
  }
})

test('nothing else that is registered is a pattern', () => {
  const patterns = [
    'https://app.example.com/*',
    'https://app.example.com/a**',
    'https://app.example.com/.*',
    'https://*app.example.com/a',
    'https://**.example.com/a',
    'https://a.*.com/a',
    'com.example.app:/*',
  ]
  const asked = ['https://app.example.com/a', 'https://app.example.com/abc', 'https://app.example.com/a/b']
  for (const appType of [web, native])
    for (const registered of patterns)
      for (const other of [...asked, 'https://a.app.com/a', 'com.example.app:/a'])
        expect([
          registered,
          other,
          isRegistered(other, { ...oidc, appType, devMode: true, redirectUris: [registered] }),
        ]).toEqual([registered, other, false])
})

const preview = 'https://*.app.example.com:8443/cb?a=b'

// Each of these has more, less or something else than one label in place of the star.
const strangers = [
  preview,
  'https://.app.example.com:8443/cb?a=b',
  'https://app.example.com:8443/cb?a=b',
  'https://a.b.app.example.com:8443/cb?a=b',
  'https://a..app.example.com:8443/cb?a=b',
  'https://a%2eb.app.example.com:8443/cb?a=b',
  'https://a%2Eapp.example.com:8443/cb?a=b',
  'https://a\u3002b.app.example.com:8443/cb?a=b',
  'https://aapp.example.com:8443/cb?a=b',
  'https://evil.example/.app.example.com:8443/cb?a=b',
  'https://evil.example?.app.example.com:8443/cb?a=b',
  'https://evil.example#.app.example.com:8443/cb?a=b',
  'https://evil.example\\.app.example.com:8443/cb?a=b',
  'https://evil.example:443/.app.example.com:8443/cb?a=b',
  'https://user@x.app.example.com:8443/cb?a=b',
  'https://user:x@evil.example/.app.example.com:8443/cb?a=b',
  'https://x@.app.example.com:8443/cb?a=b',
  'https://x.app.example.com:8443@evil.example/cb?a=b',
  'https://x.app.example.com.evil.example:8443/cb?a=b',
  'https://X.app.example.com:8443/cb?a=b',
  'https://x.APP.example.com:8443/cb?a=b',
  'https://xn--80ak6aa92e.app.example.com:8443/cb?a=b',
  'https://\u0430.app.example.com:8443/cb?a=b',
  'https://-x.app.example.com:8443/cb?a=b',
  'https://x-.app.example.com:8443/cb?a=b',
  'https://x_y.app.example.com:8443/cb?a=b',
  `https://${'x'.repeat(64)}.app.example.com:8443/cb?a=b`,
  'https://x\n.app.example.com:8443/cb?a=b',
  'https://x .app.example.com:8443/cb?a=b',
  'https://x\u0000.app.example.com:8443/cb?a=b',
  'https://x.app.example.com/cb?a=b',
  'https://x.app.example.com:443/cb?a=b',
  'https://x.app.example.com:8443/CB?a=b',
  'https://x.app.example.com:8443/cb/?a=b',
  'https://x.app.example.com:8443/cb?a=b&c=d',
  'https://x.app.example.com:8443/cb?a=b#',
  'https://x.app.example.com:8443/y/../cb?a=b',
  'http://x.app.example.com:8443/cb?a=b',
  'HTTPS://x.app.example.com:8443/cb?a=b',
  'javascript:https://x.app.example.com:8443/cb?a=b',
]

test('in development a star is exactly one label, and all else is compared byte for byte', () => {
  for (const appType of [web, native]) {
    const config = { ...oidc, appType, devMode: true, redirectUris: ['https://other.example.com', preview] }
    for (const label of ['x', '0', 'pr-12', 'feature--login', 'x'.repeat(63)]) {
      const asked = preview.replace('*', label)
      expect([asked, isRegistered(asked, config)]).toEqual([asked, true])
      expect([asked, isRegistered(asked, { ...config, devMode: false })]).toEqual([asked, false])
    }
    for (const other of strangers) expect([other, isRegistered(other, config)]).toEqual([other, false])
  }
})

test.each(['http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb', 'http://[::1]/cb', 'http://localhost:1/cb'])(
  'a native application at %s may have any port there, and nothing else',
  (registered) => {
    const at = (asked: string, appType: OIDCAppType = native) =>
      isRegistered(asked, { ...oidc, appType, redirectUris: [registered] })
    const [host] = /^http:\/\/(\[.*\]|[^:/]+)/.exec(registered)!
    for (const port of ['', ':1', ':80', ':51004', ':65535']) expect(at(`${host}${port}/cb`)).toBe(true)
    for (const port of [':', ':0', ':08', ':65536', ':80x', ':80@evil.example', ':80:80', '@evil.example:80'])
      expect([port, at(`${host}${port}/cb`)]).toEqual([port, false])
    for (const rest of ['', '/', '/cb/', '/CB', '/cb?x', '/cb#'])
      expect([rest, at(`${host}:1234${rest}`)]).toEqual([rest, false])
    expect(at(`${host}:1234/cb`, web)).toBe(false)
    expect(at(`${host.replace('http:', 'https:')}:1234/cb`)).toBe(false)
    for (const other of ['http://127.0.0.2', 'http://localhost.', 'http://[::2]', 'http://0.0.0.0'])
      expect(at(`${other}/cb`)).toBe(false)
  },
)

test('a program of this machine may be anybody’s, a website not', () => {
  const config = { ...oidc, appType: native }
  for (const local of ['http://127.0.0.1:5000/', 'com.example.app:/cb']) expect(mayBeAnybodys(local, config)).toBe(true)
  expect(mayBeAnybodys(uri, config)).toBe(false)
  expect(mayBeAnybodys(uri, oidc)).toBe(false)
})

test('a page names where it leads', () => {
  expect([originOf(uri), hostOf(uri)]).toEqual(['https://app.example.com', 'app.example.com'])
  expect([originOf('com.example.app:/cb'), hostOf('com.example.app:/cb')]).toEqual(['', 'com.example.app'])
  expect(hostOf('http://[::1]:5000/cb')).toBe('[::1]:5000')
})
