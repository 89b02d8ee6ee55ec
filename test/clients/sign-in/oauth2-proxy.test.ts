import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/chromium.ts'
import { build, elsewhere, unlessThereIs } from '../build.ts'
import { refreshes, signIn } from './browse.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { commandsOf, register } from './register.ts'

const why = withoutChromium || elsewhere || unlessThereIs('go')

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

  test('it lets in who has the role, says who that is, refreshes, signs out at Roster, too, and nobody else', async () => {
    const file = 'oauth2-proxy/oauth2-proxy.cfg'
    const given = filesOf('oauth2-proxy')
    const commands = `export GOBIN="$PWD"\n${commandsOf('oauth2-proxy.md', 'Install')}`
    const folder = await build('examples/oauth2-proxy', given, commands)
    const port = await freePort(0)
    const origin = `http://localhost:${port}`
    const addresses = {
      'http://localhost:4180': origin,
      '127.0.0.1:4180': `127.0.0.1:${port}`,
      'http://localhost:3001': `http://localhost:${(upstream.address() as AddressInfo).port}`,
      'http://localhost:8080': place.issuer,
      'localhost:8080': new URL(place.issuer).host,
      // Refreshes at once.
      'cookie_refresh = "10m"': 'cookie_refresh = "1s"',
    }
    const ours = Object.entries(addresses).reduce((text, [shown, used]) => text.replaceAll(shown, used), given[file]!)
    writeFileSync(join(folder, file), ours)
    const { CLIENT_ID, CLIENT_SECRET } = await register(place, 'oauth2-proxy.md', addresses)
    const env = {
      OAUTH2_PROXY_CLIENT_ID: CLIENT_ID,
      OAUTH2_PROXY_CLIENT_SECRET: CLIENT_SECRET,
      OAUTH2_PROXY_COOKIE_SECRET: 'a secret of 32 letters or digits',
    }
    await place.start([join(folder, 'oauth2-proxy'), '--config', join(folder, file)], origin, { cwd: folder, env })

    const page = await place.openPage()
    await signIn(place, page, `${origin}/`, '')
    const told = async () => JSON.parse((await page.getByText('{').textContent()) ?? '') as Record<string, string>
    expect(await told()).toMatchObject({
      'x-forwarded-user': place.person.userId,
      'x-forwarded-email': place.person.email,
      'x-forwarded-groups': 'reader',
    })
    await expect.poll(async () => (await page.goto(`${origin}/`), refreshes(place).length)).toBeGreaterThan(0)

    const back = encodeURIComponent(`${origin}/`)
    const end = `${place.issuer}/oidc/v1/end_session?id_token_hint={id_token}&post_logout_redirect_uri=${back}`
    await page.goto(`${origin}/oauth2/sign_out?rd=${encodeURIComponent(end)}`)
    await page.getByLabel('Password').waitFor()

    const nobody = await place.openPage()
    await nobody.goto(`${origin}/`)
    await place.signIn(nobody, place.other)
    await nobody.getByText('403').first().waitFor()
  })
})
