import { expect, test } from 'vitest'
import { nearestRedirectUri } from './nearest-redirect-uri.ts'

const registered = [
  'https://app.example.com/callback',
  'https://app.example.com/other/callback',
  'com.example.app:/cb',
  'http://localhost:3000/callback',
]
const nearest = (uri: string, devMode = false, redirectUris = registered) =>
  nearestRedirectUri(uri, { redirectUris, devMode })

test.each([
  ['a slash', 'https://app.example.com/callback/', 0],
  ['capital letters', 'https://APP.example.com/Callback', 0],
  ['another port', 'https://app.example.com:8443/callback', 0],
  ['another scheme', 'http://app.example.com/callback', 0],
  ['www.', 'https://www.app.example.com/callback', 0],
  ['the name of this machine', 'http://127.0.0.1:3000/callback', 3],
  ['its address', 'http://[::1]/callback', 3],
  ['three letters', 'https://aps.exampl.com/callbock', 0],
])('it is named where the difference is %s', (_, uri, at) => {
  expect(nearest(uri)).toBe(registered[at])
})

test.each([
  ['https://app.example.com/other/login', 1],
  ['http://app.example.com:3000/api/auth/callback/roster', 0],
  ['com.example.app:/other/path/of/it', 2],
])('one of the same host is named in development alone: %s', (uri, at) => {
  expect(nearest(uri, true)).toBe(registered[at])
  expect(nearest(uri)).toBeUndefined()
})

test('a long address costs no more than a short one', () => {
  const long = Array.from({ length: 50 }, (_, n) => `https://app.example.com/a${n}${'b'.repeat(1900)}`)
  expect(nearest(`https://app.example.com/zzz${'b'.repeat(1900)}`, true, long)).toBeUndefined()
})

test.each([
  ['https://evil.example/callback'],
  ['https://app.example.com.evil.example/callback'],
  ['https://evil.example/https://app.example.com/callback'],
  ['https://example.com/callback'],
  ['https://apsx.exampl.com/callbock'],
  [''],
  ['magic'],
  ['x'.repeat(300)],
  ['https://a'],
])('it is not where it is unlike: %s', (uri) => {
  expect(nearest(uri)).toBeUndefined()
})
