import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, elsewhere, unlessThereIs } from '../build.ts'
import { refreshes, signIn } from './browse.ts'
import { expectLibrary, type Library } from './expect-library.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { commandsOf, register } from './register.ts'
import { versionIn } from './version-in.ts'

const why = withoutChromium || elsewhere || unlessThereIs('go')

const toInstall = commandsOf('oauth2-proxy.md', 'Install')
const install = () => build('examples/oauth2-proxy', {}, `export GOBIN="$PWD"\n${toInstall}`)
const cookieSecret = 'a secret of 32 letters or digits'

describe.skipIf(why)(`oauth2-proxy before what has no sign-in${why}:`, () => {
  let place: Place
  // Shows what it is told of the person.
  const upstream = createServer(({ headers }, response) => response.end(JSON.stringify(headers)))
  beforeAll(async () => {
    place = await openPlace()
    await new Promise<void>((resolve) => upstream.listen(0, 'localhost', resolve))
  })
  afterAll(async () => {
    upstream.close()
    await place?.close()
  })

  const behind = () => `http://localhost:${(upstream.address() as AddressInfo).port}`

  test('it lets in who has the role, says who that is, refreshes, signs out at Roster, too, and nobody else', async () => {
    const file = 'oauth2-proxy/oauth2-proxy.cfg'
    const given = filesOf('oauth2-proxy')
    const folder = await install()
    const port = await freePort(0)
    const origin = `http://localhost:${port}`
    const addresses = {
      'http://localhost:4180': origin,
      '127.0.0.1:4180': `127.0.0.1:${port}`,
      'http://localhost:3001': behind(),
      'http://localhost:8080': place.issuer,
      'localhost:8080': new URL(place.issuer).host,
      // Refreshes at once.
      'cookie_refresh = "10m"': 'cookie_refresh = "1s"',
    }
    const ours = Object.entries(addresses).reduce((text, [shown, used]) => text.replaceAll(shown, used), given[file]!)
    const own = join(folder, 'oauth2-proxy.cfg')
    writeFileSync(own, ours)
    const { CLIENT_ID, CLIENT_SECRET } = await register(place, 'oauth2-proxy.md', addresses)
    const env = {
      OAUTH2_PROXY_CLIENT_ID: CLIENT_ID,
      OAUTH2_PROXY_CLIENT_SECRET: CLIENT_SECRET,
      OAUTH2_PROXY_COOKIE_SECRET: cookieSecret,
    }
    await place.start([join(folder, 'oauth2-proxy'), '--config', own], origin, { cwd: folder, env })

    const page = await place.openPage()
    await signIn(place, page, `${origin}/`, '')
    const told = async () => JSON.parse((await page.getByText('{').textContent()) ?? '') as Record<string, string>
    expect(await told()).toMatchObject({
      'x-forwarded-user': place.person.userId,
      'x-forwarded-email': place.person.email,
      'x-forwarded-groups': 'reader',
    })
    const refreshed = async () => (await page.goto(`${origin}/`), refreshes(place).length)
    await expect.poll(refreshed, { timeout: 30_000 }).toBeGreaterThan(0)

    const back = encodeURIComponent(`${origin}/`)
    const end = `${place.issuer}/oidc/v1/end_session?id_token_hint={id_token}&post_logout_redirect_uri=${back}`
    await page.goto(`${origin}/oauth2/sign_out?rd=${encodeURIComponent(end)}`)
    await page.getByLabel('Password').waitFor()

    const nobody = await place.openPage()
    await nobody.goto(`${origin}/`)
    await place.signIn(nobody, place.other)
    await nobody.getByText('403').first().waitFor()
  })

  test('oauth2-proxy signs a person in with name and role as its row says', () => {
    const library: Library = {
      name: 'oauth2-proxy',
      version: versionIn(toInstall, 'oauth2-proxy/v7'),
      callback: '/oauth2/callback',
      button: 'Sign in with Roster',
      line: '`code_challenge_method = "S256"`',
      async start(its, origin, { ISSUER, CLIENT_ID, CLIENT_SECRET, SCOPE, PORT }, line) {
        const folder = await install()
        // As https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect shows it.
        const options = {
          provider: 'oidc',
          'provider-display-name': 'Roster',
          'client-id': CLIENT_ID,
          'client-secret': CLIENT_SECRET,
          'redirect-url': `${origin}/oauth2/callback`,
          'oidc-issuer-url': ISSUER,
          'oidc-groups-claim': 'roles',
          scope: SCOPE,
          upstream: behind(),
          'http-address': `127.0.0.1:${PORT}`,
          'email-domain': '*',
          'cookie-secure': 'false',
          'cookie-secret': cookieSecret,
          ...(line && { 'code-challenge-method': 'S256' }),
        }
        const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
        await its.start([join(folder, 'oauth2-proxy'), ...words], origin, { cwd: folder, env: {} })
      },
      shows: (page) => page.getByText('"x-forwarded-groups":"reader"').waitFor(),
    }
    return expectLibrary(place, library)
  })
})
