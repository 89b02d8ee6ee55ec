import { expect, test } from 'vitest'
import { nearestRedirectUri } from './nearest-redirect-uri.ts'

const registered = ['https://app.example.com/callback', 'https://app.example.com/other/callback', 'com.example.app:/cb']

test.each([
  ['a slash', 'https://app.example.com/callback/', 0],
  ['capital letters', 'https://APP.example.com/Callback', 0],
  ['another port', 'https://app.example.com:8443/callback', 0],
  ['another scheme', 'http://app.example.com/callback', 0],
  ['www.', 'https://www.app.example.com/callback', 0],
  ['three letters', 'https://aps.exampl.com/callbock', 0],
  ['another path', 'https://app.example.com/other/login', 1],
  ['the same scheme of its own', 'com.example.app:/other/path/of/it', 2],
])('it is named where the difference is %s', (_, uri, at) => {
  expect(nearestRedirectUri(uri, registered)).toBe(registered[at])
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
])('it is not where it is unlike: %s', (uri) => {
  expect(nearestRedirectUri(uri, registered)).toBeUndefined()
})
