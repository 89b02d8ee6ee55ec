import { type JsonValue } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { faults, valid } from '../support/requests.ts'

test('an email address has at most 200 characters', () => {
  const address = (length: number) => `${'x'.repeat(length - '@example.com'.length)}@example.com`
  const at = (email: string) => faults('users.v1.UserService.SetEmail', { userId: 'u', email })
  expect(at(address(200))).toEqual([])
  expect(at(address(201))).toEqual(['email'])
})

// What else is none, the service says.
test.each([
  '',
  'x',
  'a@b@c',
  'Arthur <a@example.com>',
  'a@example.com,b@example.com',
  'a@exa mple.com',
  ' a@example.com',
  '"a b"@example.com',
])('"%s" is no valid address', (email) =>
  expect(faults('users.v1.UserService.SetEmail', { userId: 'u', email })).toEqual(['email']),
)

test.each(['a', '-', '_', 'Az09_-', 'x'.repeat(200)])('%s may be chosen as an id', (userId) => {
  expect(faults('users.v1.UserService.AddMachineUser', { userName: 'a', name: 'b', userId })).toEqual([])
})

test.each(['', ' ', 'a.b', 'a/b', 'ä', 'a\n', 'a*', '>', 'x'.repeat(201)])(
  '"%s" cannot be chosen as an id',
  (userId) => {
    expect(faults('users.v1.UserService.AddMachineUser', { userName: 'a', name: 'b', userId })).toEqual(['userId'])
  },
)

describe('a language', () => {
  const at = (preferredLanguage: string) =>
    faults('users.v1.UserService.UpdateMyProfile', {
      ...valid['users.v1.UserService.UpdateMyProfile'],
      preferredLanguage,
    })

  test.each([
    '',
    'de',
    'DE',
    'de-CH',
    'EN-us',
    'zh-Hant',
    'zh-Hant-TW',
    'es-419',
    'sl-rozaj',
    'de-1901',
    'zh-min-nan',
    'x-klingon',
    'i-default',
    'i-klingon',
    'en-GB-oed',
    'sgn-BE-FR',
    'hy-x-a',
    'fil',
  ])('may be "%s"', (tag) => expect(at(tag)).toEqual([]))
  test.each([
    'd',
    '-',
    'de-',
    '-de',
    'de_CH',
    'de--CH',
    'de CH',
    'de-CHE-1',
    '12',
    'de-a',
    'x',
    'x-',
    'i-unknown',
    'de\n',
    'dé',
    'abcdefghi',
    'de-1',
  ])('may not be "%s"', (tag) => expect(at(tag)).toEqual(['preferredLanguage']))
  test('has at most ten characters', () => expect(at('de-CH-1996-x')).toContain('preferredLanguage'))
})

describe('any megabyte of text is checked in time', () => {
  const size = 1_000_000
  const parts = [
    'a',
    '-a',
    'en-',
    '-a-bb',
    '-12345',
    '-x',
    'a.',
    'a@',
    '@',
    '.',
    '/',
    ':',
    '%',
    '%41',
    '[',
    '🦊',
    '0',
    ' ',
  ]
  const cases = [
    ['users.v1.UserService.UpdateMyProfile', 'preferredLanguage', 'en'],
    ['users.v1.UserService.SetEmail', 'email', 'a@'],
    ['users.v1.UserService.AddMachineUser', 'userId', 'a'],
    ['idp.v1.IdentityProviderService.AddOIDCIDP', 'issuer', 'https://'],
  ] as const
  test.each(cases)('%s: %s', { timeout: 60_000 }, (name, path, head) => {
    for (const part of parts) {
      const value = part.repeat(size / part.length)
      for (const text of [`${head}${value}`, `${value}!`]) {
        // Of this process alone: the machine may have other work.
        const before = process.cpuUsage()
        expect(faults(name, put(valid[name]!, path, text))).toContain(path)
        expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
      }
    }
  })

  test('in a list too', () => {
    const request = { userId: 'u', roles: Array.from({ length: 100_000 }, (_, index) => `role ${index}`) }
    const started = performance.now()
    expect(faults('grants.v1.OrganizationService.AddOrganizationMember', request)).toHaveLength(100_000)
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

function put(json: Record<string, JsonValue>, path: string, value: string): Record<string, JsonValue> {
  const [first, ...rest] = path.split('.')
  const inner = (json[first!] ?? {}) as Record<string, JsonValue>
  return { ...json, [first!]: rest.length === 0 ? value : put(inner, rest.join('.'), value) }
}
