import { expect, test } from 'vitest'
import { destinations } from '#lib/outbound/destinations'
import { checkServers, faultOf, faultOfCalled } from './check-urls.ts'

test.each([
  'https://i.example',
  'https://i.example:8443/a/b?c=d&e=@f',
  'HTTPS://I.EXAMPLE/',
  'https://10.0.0.1/',
  'https://[2001:db8::1]/',
  'http://localhost:3000/callback',
  'http://127.0.0.1',
  'http://[::1]:8080/',
])('"%s" may be the address of a provider', (url) => expect(faultOf(url)).toBeUndefined())

test.each([
  '',
  'i.example',
  'https:i.example',
  'https:///',
  'https://',
  'ftp://i.example',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://i.example',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'https://user@i.example',
  'https://user:password@i.example',
  'https://@i.example',
  'https://:@i.example',
  'https://i.example\\@evil.example',
  'https://i.example/a b',
  'https://i.example/\n',
  ' https://i.example',
  'https://i.example/#a',
  'https://i.example/#',
  'https://i.example:99999',
])('"%s" may not', (url) => expect(faultOf(url)).toMatch(/^must /))

const strict = { destinations: destinations.default! }
const here = { destinations: destinations.read('127.0.0.1') }

test('what Roster calls is public, unless the operator allows more', () => {
  expect(faultOfCalled(strict, 'https://i.example')).toBeUndefined()
  for (const url of ['https://10.0.0.1', 'https://0x7f.1', 'http://localhost:3000', 'https://[::ffff:127.0.0.1]/a'])
    expect(faultOfCalled(strict, url)).toMatch(
      /^(is at an address that Roster may not call|must be an absolute https URL)$/,
    )
  expect(faultOfCalled(here, 'http://localhost:3000')).toBeUndefined()
  expect(faultOfCalled(here, 'http://i.example')).toBe('must be an absolute https URL')
})

test('so are the servers of a directory, each by its place', () => {
  const servers = ['ldaps://a.example:636', 'ldap://127.1', 'ldap://b.example', 'LDAPS://[fd00::1]:636']
  const description = 'is at an address that Roster may not call'
  const at = (place: number) => ({ field: `servers[${place}]`, description })
  expect(checkServers(strict, { servers })).toEqual([at(1), at(3)])
  expect(checkServers(here, { servers })).toEqual([at(3)])
})
