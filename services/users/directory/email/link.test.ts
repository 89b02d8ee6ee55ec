import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkTemplate, defaultTemplate, linkOf, linkTargets } from './link.ts'

const check = (template: string, hosts: string[] = [], anyHost = true, PUBLIC_URL = 'https://id.example.com') =>
  checkTemplate(template, linkTargets({ PUBLIC_URL, EMAIL_LINK_HOSTS: hosts }, anyHost), 'urlTemplate')

describe('a template is accepted', () => {
  test.each([
    'https://app.example.com/verify?user={{.UserID}}&code={{.Code}}&org={{.OrgID}}',
    'http://localhost:3000/{{.Code}}',
    'https://app.example.com/#/verify/{{.UserID}}/{{.Code}}',
    'https://app.example.com/{{.Code}}/{{.Code}}',
    'https://app.example.com',
    'https://[::1]:8443/{{.Code}}',
    'https://bücher.example/{{.Code}}',
    'HTTPS://App.Example.com/?{{.Code}}',
    'https://app.example.com/überprüfen?c={{.Code}}',
  ])('%s', (template) => expect(check(template)).toEqual([]))
})

describe('a template is refused, naming its field,', () => {
  test.each([
    ['another scheme', 'javascript:alert("{{.Code}}")'],
    ['another scheme that looks like a host', 'javascript://app.example.com/%0aalert(1)'],
    ['another scheme', 'data:text/html,{{.Code}}'],
    ['another scheme', 'ftp://app.example.com/{{.Code}}'],
    ['another scheme', 'mailto:a@example.com'],
    ['no scheme', '//app.example.com/{{.Code}}'],
    ['no scheme', 'app.example.com/{{.Code}}'],
    ['no scheme', '/verify?code={{.Code}}'],
    ['one slash only', 'https:/app.example.com/{{.Code}}'],
    ['no slash', 'https:app.example.com'],
    ['the scheme made by a variable', '{{.Code}}://app.example.com/'],
    ['nothing else', '{{.Code}}'],
    ['no host', 'https://'],
    ['no host', 'https:///'],
    ['a user', 'https://user@app.example.com/'],
    ['a user and a password', 'https://user:password@app.example.com/'],
    ['a variable as user', 'https://{{.UserID}}@app.example.com/'],
    ['a variable as password', 'https://x:{{.Code}}@app.example.com/'],
    ['a variable in the host', 'https://{{.Code}}.example.com/'],
    ['a variable as the host', 'https://{{.OrgID}}/'],
    ['a variable in the host behind three slashes', 'https:///{{.Code}}.example.com/'],
    ['a variable in the host behind many slashes', 'https://////{{.Code}}.example.com/'],
    ['a variable in the host behind a backslash', 'https://\\{{.Code}}.example.com/'],
    ['a variable as the port', 'https://app.example.com:{{.Code}}/'],
    ['a backslash', 'https://evil.example\\@app.example.com/'],
    ['a backslash', 'https://app.example.com\\@evil.example/{{.Code}}'],
    ['a blank', 'https://app.example.com/a b'],
    ['a blank in front', ' https://app.example.com/'],
    ['a tab in the scheme', 'java\tscript:alert(1)'],
    ['a tab in the host', 'https://app.example\t.com/'],
    ['a line break', 'https://app.example.com/\r\nBcc: everybody@example.com'],
    ['a line break in a variable', 'https://app.example.com/{{.Co\nde}}'],
    ['a control character', 'https://app.example.com/\u0007'],
    ['a character that reverses the text', 'https://app.example.com/\u202emoc.elpmaxe'],
    ['a character that is not seen', 'https://app.example.com/\u200b'],
    ['an unknown variable', 'https://app.example.com/{{.Password}}'],
    ['a variable without its dot', 'https://app.example.com/{{Code}}'],
    ['a variable in other letters', 'https://app.example.com/{{.code}}'],
    ['an empty variable', 'https://app.example.com/{{}}'],
    ['a variable of every object', 'https://app.example.com/{{.constructor}}'],
    ['a call', 'https://app.example.com/{{.Code | printf "%s"}}'],
    ['three braces', 'https://app.example.com/{{{.Code}}}'],
    ['braces in braces', 'https://app.example.com/{{ {{.Code}} }}'],
    ['braces in braces', 'https://app.example.com/{{.{{.Code}}}}'],
    ['an open brace', 'https://app.example.com/{{.Code'],
    ['a closed brace', 'https://app.example.com/.Code}}'],
    ['a host that is none', 'https://exa mple.com/'],
    ['a host that is none', 'https://app..example.com:99999/'],
  ])('with %s: %s', (_, template) => {
    expect(check(template).map(({ field }) => field)).toEqual(['urlTemplate'])
  })
})

// If this check left long templates to the rule on length, they would pass wherever that rule is evaded.
test.each([500, 100_000])('a template of %d characters is checked like any other', (length) => {
  for (const evil of evils(length)) expect(check(evil, ['app.example.com'])).not.toEqual([])
})

test('the time of a check grows with the template, and not with its square', () => {
  const [short, long] = [20_000, 400_000].map((length) =>
    fastest(() => templates(length).forEach((text) => check(text))),
  )
  expect(long!).toBeLessThan(150 * short!)
})

const evils = (length: number, rest = 'a'.repeat(length)) => [
  `javascript:${rest}`,
  `https://evil.example/${rest}`,
  `https://{{.Code}}.evil.example/${rest}`,
]

function templates(length: number): string[] {
  const parts = ['{{', '}}', '{{.Code', '{', 'https://', '{{.Code}}', '\\', 'a@', 'a']
  return [...parts.map((part) => `https://app.example.com/${part.repeat(length / part.length)}`), ...evils(length)]
}

function fastest(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now()
    work()
    return performance.now() - started
  })
  return Math.min(...times)
}

describe('where an allow-list is configured', () => {
  const hosts = ['app.example.com', 'dev.example.com:8443']

  test.each([
    'https://app.example.com/',
    'https://app.example.com:8080/',
    'https://dev.example.com:8443/',
    'https://APP.example.com/',
  ])('%s is allowed', (template) => expect(check(template, hosts)).toEqual([]))

  test.each([
    'https://evil.example/',
    'https://app.example.com.evil.example/',
    'https://evil.example/app.example.com',
    'https://evil.example/#app.example.com',
    'https://evil.example?app.example.com',
    'https://evilapp.example.com/',
    'https://app.example.com@evil.example/',
    'https://app.example.com\\@evil.example/',
    'https://evil.example\\@app.example.com/',
    'https://app.example.com./',
    'https://dev.example.com/',
    'https://dev.example.com:8444/',
    'https://аpp.example.com/',
    'https://app。example.com.evil.example/',
  ])('%s is not', (template) => expect(check(template, hosts)).not.toEqual([]))
})

describe('a caller who may not manage users may name the service itself or an allowed host', () => {
  const byUser = (template: string, hosts: string[] = [], publicUrl?: string) =>
    check(template, hosts, false, publicUrl)

  test.each([
    ['https://id.example.com/verified?c={{.Code}}', []],
    ['https://ID.example.com:443/{{.Code}}', []],
    ['https://app.example.com/{{.Code}}', ['app.example.com']],
    ['https://id.example.com/{{.Code}}', ['app.example.com']],
    ['https://app.example.com/{{.Code}}', ['app.example.com:443']],
  ])('%s is accepted where the allow-list is %j', (template, hosts) => expect(byUser(template, hosts)).toEqual([]))

  test.each([
    'https://evil.example/{{.Code}}',
    'https://id.example.com.evil.example/{{.Code}}',
    'https://id.example.com@evil.example/{{.Code}}',
    'https://id.example.com%40evil.example/{{.Code}}',
    'https://id.example.com:8443/{{.Code}}',
    'https://id.example.com:80/{{.Code}}',
    'http://id.example.com/{{.Code}}',
    'http://id.example.com:443/{{.Code}}',
    'https://id.example.com./{{.Code}}',
    'https://sub.id.example.com/{{.Code}}',
    'https://{{.Code}}.id.example.com/',
    'https://id.example.com{{.Code}}/',
    'https://id.example.com\\.evil.example/{{.Code}}',
    'https://id.example.com\t.evil.example/{{.Code}}',
    'https://ıd.example.com/{{.Code}}',
    'https://evil.example/?https://id.example.com/{{.Code}}',
    'https://evil.example#@id.example.com/{{.Code}}',
    'javascript://id.example.com/%0aalert({{.Code}})',
  ])('%s is not', (template) => expect(byUser(template)).not.toEqual([]))

  test('the port is part of the host', () => {
    const local = 'http://localhost:8080'
    expect(byUser('http://localhost:8080/{{.Code}}', [], local)).toEqual([])
    expect(byUser('http://localhost:8081/{{.Code}}', [], local)).not.toEqual([])
    expect(byUser('http://localhost/{{.Code}}', [], local)).not.toEqual([])
  })
})

test('the mailed link is the URL as the check understood it, not as it was written', () => {
  const values = { UserID: 'u', Code: '7KQ2MX', OrgID: 'o' }
  expect(linkOf('HTTPS://Bücher.example:443/a/../ü?c={{.Code}}', values)).toBe(
    'https://xn--bcher-kva.example/%C3%BC?c=7KQ2MX',
  )
  expect(linkOf('https://%65xample.com/"><b>{{.Code}}', values)).toBe('https://example.com/%22%3E%3Cb%3E7KQ2MX')
})

describe('an accepted template', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._~:/?#@!$&'()*+,;=%{}\\-]{0,40}$/)
  const template = fc
    .array(fc.oneof(word, fc.constantFrom('{{.Code}}', '{{.UserID}}', '{{.OrgID}}', '/', '//', 'https:')), {
      maxLength: 6,
    })
    .map((parts) => `https://${parts.join('')}`)
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })

  test('leads to one host with all values', () => {
    fc.assert(
      fc.property(template, value, value, value, (text, UserID, Code, OrgID) => {
        if (check(text).length > 0) return
        const host = URL.parse(linkOf(text, { UserID: 'u', Code: 'c', OrgID: 'o' }))!.host
        const filled = URL.parse(linkOf(text, { UserID, Code, OrgID }))
        expect(filled?.host).toBe(host)
        expect(filled?.username).toBe('')
        expect(filled?.protocol).toBe('https:')
      }),
      { numRuns: 3000 },
    )
  })
})

test('values are escaped, and variables in them are not filled', () => {
  const values = { UserID: 'a/b?c#d&e', Code: '{{.OrgID}}', OrgID: "$& $1 'ö" }
  expect(linkOf('https://x/{{.UserID}}/{{.Code}}/{{.OrgID}}', values)).toBe(
    "https://x/a%2Fb%3Fc%23d%26e/%7B%7B.OrgID%7D%7D/%24%26%20%241%20'%C3%B6",
  )
})

test.each(['https://id.example.com', 'http://localhost:8080', 'https://example.com/roster/'])(
  'the link of the service’s own page under %s has its values behind the #, so that no server logs them',
  (publicUrl) => {
    expect(check(defaultTemplate(publicUrl))).toEqual([])
    const url = new URL(linkOf(defaultTemplate(publicUrl), { UserID: 'u', Code: '7KQ2MX', OrgID: 'o' }))
    expect(url.href.split('#')[0]).not.toContain('7KQ2MX')
    expect(url.hash).toBe('#userId=u&code=7KQ2MX')
  },
)
