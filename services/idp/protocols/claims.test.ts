import { create } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { validate } from '#lib/rpc/validate'
import { claimAt } from './claim-at.ts'
import { readClaims, readMethods, wordsOf } from './claims.ts'

const said = {
  email: 'ada@there.example',
  email_verified: true,
  given_name: 'Ada',
  'https://acme.example/first': 'Augusta',
  realm: { access: { 'a/b': 'deep', list: ['one'] }, empty: null },
  mail: 'augusta@there.example',
  checked: true,
}

test.each<[string, unknown]>([
  ['given_name', 'Ada'],
  ['https://acme.example/first', 'Augusta'],
  ['/realm/access/a~1b', 'deep'],
  ['/realm/access/list', ['one']],
  ['/realm/access/list/0', undefined],
  ['/realm/empty/more', undefined],
  ['/given_name', 'Ada'],
  ['', undefined],
  ['constructor', undefined],
  ['/realm/constructor/name', undefined],
  ['__proto__', undefined],
])('the claim %s is %j', (claim, value) => expect(claimAt(said, claim)).toEqual(value))

describe('a record', () => {
  test('without a mapping reads the claims of OpenID Connect', () =>
    expect(readClaims([said])).toEqual({ email: 'ada@there.example', emailVerified: true, givenName: 'Ada' }))

  test('reads the claims that it names, and an empty one is none', () =>
    expect(
      readClaims([said], {
        mapping: { givenName: 'https://acme.example/first', familyName: '/realm/access/a~1b', email: '' },
      }),
    ).toEqual({ givenName: 'Augusta', familyName: 'deep' }))

  test('does not take what vouches for one address as the word for another', () => {
    expect(readClaims([said], { mapping: { email: 'mail' } })).not.toHaveProperty('emailVerified')
    expect(readClaims([said], { mapping: { email: 'mail', emailVerified: 'checked' } })).toMatchObject({
      email: 'augusta@there.example',
      emailVerified: true,
    })
  })
})

test('one answer does not vouch for the address of another', () => {
  const mallory = { email: 'mallory@there.example', email_verified: true }
  const carl = { email: 'carl@there.example' }
  expect(readClaims([mallory, carl])).toEqual(carl)
  expect(readClaims([carl, mallory])).toEqual({ email: mallory.email, emailVerified: true })
  expect(readClaims([mallory, { name: 'Mallory' }])).toMatchObject({ email: mallory.email, emailVerified: true })
  expect(readClaims([carl, { email_verified: true }])).toEqual(carl)
})

test('what is no text is no way of a sign-in', () => {
  expect(wordsOf(readMethods({ amr: ['mfa', 7, null], acr: 'phr' }))).toEqual(['amr:mfa', 'acr:phr'])
  expect(wordsOf(readMethods({ amr: { mfa: true }, acr: ['phr'] }))).toEqual([])
})

const request = registry.getMessage('roster.idp.v1.SetIDPClaimsRequest')!
const faultsOf = (mapping: object) =>
  validate(request, create(request, { idpId: 'i', mapping })).map(({ field }) => field)

test.each(['/', '//', '/a//b', '/a/', '/~2', '/1/2/3/4/5/6', 'x'.repeat(201)])(
  'a way to a claim that leads nowhere is refused by the name of its field: %s',
  (claim) => expect(faultsOf({ email: claim })).toEqual(['mapping.email']),
)

test('all others are kept', () =>
  expect(
    faultsOf({ email: '', givenName: 'a.b', familyName: '/a/b~1c', nickName: 'urn:x:y', language: '/1/2/3/4/5' }),
  ).toEqual([]))
