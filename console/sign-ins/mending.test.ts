import { expect, test } from 'vitest'
import { mending } from './mending.ts'

const registered = ['https://app.example.com/callback']
const offered = (sent: string, more: object = {}, parameter = 'redirect_uri') =>
  mending({ parameter, sent }, { oidcConfig: { redirectUris: registered, ...more } })?.change

test('an address that came is added to those that are registered', () => {
  const sent = 'https://app.example.com/other'
  expect(offered(sent)).toEqual({ redirectUris: [...registered, sent] })
  expect(offered(sent, {}, 'post_logout_redirect_uri')).toEqual({ postLogoutRedirectUris: [sent] })
})

test('http to this machine needs the mode for development, but of a native application', () => {
  for (const sent of ['http://localhost:3001/callback', 'http://127.0.0.1/', 'http://[::1]:3000/x'])
    expect(offered(sent)).toEqual({ redirectUris: [...registered, sent], devMode: true })
  const local = 'http://localhost:3001/callback'
  expect(offered(local, { devMode: true })).toEqual({ redirectUris: [...registered, local] })
  expect(offered(local, { appType: 'OIDC_APP_TYPE_NATIVE' })).toEqual({ redirectUris: [...registered, local] })
  expect(offered('http://localhost.example.com/')).not.toHaveProperty('devMode')
})

test('nothing is offered for what is registered, was cut, or is no address', () => {
  for (const sent of [
    registered[0]!,
    `https://x.example.com/${'y'.repeat(479)}…`,
    'https://x\\u{20}.com/',
    'callback',
    '',
  ])
    expect(offered(sent)).toBeUndefined()
  expect(mending({ parameter: 'redirect_uri', sent: 'https://x.example.com/' }, undefined)).toBeUndefined()
})
