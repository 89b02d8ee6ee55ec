import { describe, expect, test } from 'vitest'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import { faultOfUri, type UriRules } from './redirect-uris.ts'

const rules = {
  web: { appType: OIDCAppType.OIDC_APP_TYPE_WEB, devMode: false, isKept: false },
  browser: { appType: OIDCAppType.OIDC_APP_TYPE_USER_AGENT, devMode: false, isKept: false },
  native: { appType: OIDCAppType.OIDC_APP_TYPE_NATIVE, devMode: false, isKept: false },
  'web in development': { appType: OIDCAppType.OIDC_APP_TYPE_WEB, devMode: true, isKept: false },
  'native in development': { appType: OIDCAppType.OIDC_APP_TYPE_NATIVE, devMode: true, isKept: false },
  'native, kept': { appType: OIDCAppType.OIDC_APP_TYPE_NATIVE, devMode: false, isKept: true },
  'web, kept': { appType: OIDCAppType.OIDC_APP_TYPE_WEB, devMode: false, isKept: true },
} satisfies Record<string, UriRules>
type Kind = keyof typeof rules

const all = Object.keys(rules) as Kind[]
const natives: Kind[] = ['native', 'native in development', 'native, kept']
const locals: Kind[] = [...natives, 'web in development']

/** Each URI with the applications that may have it. */
const allowed: [uri: string, kinds: Kind[]][] = [
  ['https://app.example.com', all],
  ['https://app.example.com/', all],
  ['https://app.example.com:8443/a/b?c=d&e=@f', all],
  ['https://app.example.com/a%20b', all],
  ["https://app.example.com/!$&'()*+,;=:@-._~", all],
  ['https://xn--mnchen-3ya.example/', all],
  ['https://APP.example.com/', all],
  ['https://10.0.0.1/', all],
  ['https://[2001:db8::1]/', all],
  ['https://localhost/', all],
  ['http://localhost', locals],
  ['http://localhost:3000/callback', locals],
  ['http://127.0.0.1/callback?a=b', locals],
  ['http://[::1]:8080/', locals],
  ['com.example.app:/signed-in', natives],
  ['com.example.app://signed-in', natives],
  ['com.example.app:', natives],
  ['com.example.app+1:/a', natives],
  ['myapp:/signed-in', ['native, kept']],
  ['myapp://signed-in', ['native, kept']],
]

describe.each(allowed)('"%s" may be a redirect URI', (uri, kinds) => {
  test.each(all)('or not: %s', (kind) => {
    const fault = faultOfUri(uri, rules[kind])
    if (kinds.includes(kind)) expect(fault).toBeUndefined()
    else expect(fault).toMatch(/^must /)
  })
})

test.each([
  ['', /RFC 3986/],
  ['https://app.example.com/#a', /fragment/],
  ['https://app.example.com/#', /fragment/],
  ['com.example.app:/a#b', /fragment/],
  ['https://user@app.example.com/', /user/],
  ['https://user:password@app.example.com/', /user/],
  ['https://@app.example.com/', /user/],
  ['http://localhost@evil.example/', /user/],
  ['com.example.app://user@a', /user/],
  ['https://app.example.com/a b', /RFC 3986/],
  ['https://app.example.com/\n', /RFC 3986/],
  ['https://app.example.com/\r\nSet-Cookie:a=b', /RFC 3986/],
  ['https://app.example.com/\0', /RFC 3986/],
  ['https://app.example.com/\u007f', /RFC 3986/],
  ['https://app.example.com/ä', /RFC 3986/],
  ['https://münchen.example/', /RFC 3986/],
  ['https://app.example.com\\@evil.example', /RFC 3986/],
  ['https://app.example.com/"', /RFC 3986/],
  ['https://app.example.com/<script>', /RFC 3986/],
  ['https://app.example.com/%', /RFC 3986/],
  ['https://app.example.com/%zz', /RFC 3986/],
  [' https://app.example.com', /RFC 3986/],
  ['app.example.com', /https/],
  ['/callback', /https/],
  ['//app.example.com/callback', /https/],
  ['HTTPS://app.example.com/', /https/],
  ['https:app.example.com', /host/],
  ['https:/app.example.com', /host/],
  ['https://', /host/],
  ['https:///callback', /host/],
  ['https://?a', /host/],
  ['https://*.example.com/', /host/],
  ['https://app.example.com:99999/', /host/],
  ['https://app.example.com:/', /host/],
  ['https://app.example.com:x/', /host/],
  ['https://[::1/', /host/],
  ['https://[1.2.3]/', /host/],
  ['https://a%62.example/', /host/],
  ['http://app.example.com/', /https/],
  ['http://localhost.evil.example/', /https/],
  ['http://127.0.0.1.evil.example/', /https/],
  ['http://LOCALHOST/', /https/],
  ['http://localhost./', /https/],
  ['http://127.1/', /https/],
  ['http://127.0.0.2/', /https/],
  ['http://[0:0:0:0:0:0:0:1]/', /https/],
  ['http://0.0.0.0/', /https/],
  ['http://localhost:/', /https/],
  ['http://localhost:99999/', /https/],
  ['http:localhost', /https/],
  ['javascript:alert(1)', /browsers/],
  ['javascript://a.example/%0Aalert(1)', /browsers/],
  ['data:text/html,a', /browsers/],
  ['file:///etc/passwd', /browsers/],
  ['blob:https://app.example.com/a', /browsers/],
  ['about:blank', /browsers/],
  ['view-source:https://a.example', /browsers/],
  ['intent://a', /browsers/],
  ['mailto:a', /browsers/],
  ['web+a:b', /browsers/],
  ['chrome-extension://a', /browsers/],
  ['ftp://a.example/', /browsers/],
])('"%s" is no redirect URI of any application', (uri, fault) => {
  // The one that may have most.
  expect(faultOfUri(uri, rules['native, kept'])).toMatch(fault)
  for (const kind of all) expect(faultOfUri(uri, rules[kind])).toMatch(/^must /)
})

describe('a host may begin with a star,', () => {
  const fault = (uri: string, more: Partial<UriRules> = {}) =>
    faultOfUri(uri, { ...rules['web in development'], mayBePattern: true, ...more })

  test.each([
    'https://*.example.com',
    'https://*.preview.example.com:8443/callback?a=b',
    'https://*.xn--mnchen-3ya.example/',
    'https://*.example.co.uk/',
    'https://*.me.github.io/',
    'https://*.my-team.vercel.app/callback',
  ])('as that of %s, with devMode alone, and nowhere else than where a browser is sent', (uri) => {
    expect(fault(uri)).toBeUndefined()
    expect(fault(uri, rules.native)).toMatch(/devMode/)
    expect(fault(uri, { devMode: false })).toMatch(/devMode/)
    expect(faultOfUri(uri, rules['web in development'])).toMatch(/must have a host/)
  })

  test.each<[string, RegExp]>([
    ['https://*.com/', /public suffix/],
    ['https://*.co.uk/', /public suffix/],
    ['https://*.vercel.app/', /public suffix/],
    ['https://*.github.io/', /public suffix/],
    ['https://*.netlify.app/', /public suffix/],
    ['https://*.kawasaki.jp/', /public suffix/],
    ['https://*.x.ck/', /public suffix/],
    ['https://*.localhost/', /public suffix/],
    ['https://*.unknowntld/', /public suffix/],
    [`https://*.${'x'.repeat(64)}.example.com/`, /public suffix/],
    ['https://*.168.0.1/', /IP address/],
    ['https://*.0.0.0x7f/', /IP address/],
    ['https://*/', /first label/],
    ['https://*', /first label/],
    ['https://*.', /first label/],
    ['https://*.example.com./', /first label/],
    ['https://*.[::1]/', /first label/],
    ['https://[*]/', /first label/],
    ['https://*.Example.com/', /first label/],
    ['https://**.example.com/', /first label/],
    ['https://a*.example.com/', /first label/],
    ['https://*a.example.com/', /first label/],
    ['https://*.*.example.com/', /first label/],
    ['https://a.*.example.com/', /first label/],
    ['https://*..example.com/', /first label/],
    ['https://*.example.com:*/', /first label/],
    ['https://*.example.com:99999/', /must have a host/],
    ['https://user@*.example.com/', /user/],
    ['https://*.example.com/#', /fragment/],
    ['http://*.localhost:3000/', /http to localhost/],
    ['http://*.example.com/', /http to localhost/],
  ])('not as that of %s', (uri, problem) => {
    for (const { appType } of [rules.web, rules.browser, rules.native]) expect(fault(uri, { appType })).toMatch(problem)
  })
})
