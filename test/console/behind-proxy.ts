import { readFileSync } from 'node:fs'
import { request as requestOf } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import type { Person } from './console-house.ts'
import { house } from './stage.ts'

export function behindProxy(): void {
  describe.skipIf(withoutChromium)(`behind a proxy that ends TLS, in Chromium${withoutChromium}`, () => {
    let proxy: Awaited<ReturnType<typeof startTlsProxy>>
    let browser: Browser
    let context: BrowserContext
    let page: Page
    let person: Person
    /** Calls that were refused. */
    const refused: string[] = []

    beforeAll(async () => {
      proxy = await startTlsProxy(house.url)
      // PUBLIC_URL has no port.
      browser = await openChromium([
        `--host-resolver-rules=MAP ${new URL(house.publicUrl).host} 127.0.0.1:${proxy.port}`,
      ])
      context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' })
      page = await context.newPage()
      page.on('response', (answer) => {
        if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`)
      })
      person = await house.newPerson(['ORG_OWNER'], 'Ada behind it')
    }, 60_000)
    afterAll(async () => {
      await browser?.close()
      await proxy?.stop()
    })

    test('one signs in, and reads a list, by a cookie that is bound to https and this host', async () => {
      const people = `${house.publicUrl}/ui/console/o/${person.organizationId}/people`
      await page.goto(people)
      await page.locator('[name=login_name]').fill(person.name)
      await page.locator('[name=password]').fill(person.password)
      // Nobody is signed in yet, and the page asks who is.
      refused.length = 0
      await page.keyboard.press('Enter')
      await page.getByRole('row').filter({ hasText: 'Ada behind it' }).waitFor()
      expect(page.url()).toBe(people)
      const host = new URL(house.publicUrl).hostname
      const bound = { domain: host, path: '/', secure: true, httpOnly: true }
      expect(await context.cookies(house.publicUrl)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ ...bound, name: '__Host-roster-console', sameSite: 'Strict' }),
          expect.objectContaining({ ...bound, name: '__Host-roster-browser', sameSite: 'Lax' }),
        ]),
      )
      expect(refused).toEqual([])
    })

    test('a stream stays open, brings what happens, and ends with the session', async () => {
      await page.evaluate(openStream)
      const read = () => page.evaluate<string>('window.streamed')
      await expect.poll(read).toContain('opened')
      await house.act('AddProject', { name: 'Seen behind the proxy' }, person.organizationId)
      await expect.poll(read, { timeout: 10_000 }).toContain('project')
      expect(await read()).not.toContain('over')
      await house.act('LockUser', { userId: person.userId })
      await expect.poll(read, { timeout: 5000 }).toMatch(/CONSOLE_SESSION_ENDED[^]*over/)
    })
  })
}

// As a page of the console reads events. It runs in the browser.
const openStream = `(async () => {
  window.streamed = ''
  const asked = await fetch('/ui/console/session', { method: 'POST', headers: { 'content-type': 'application/json' } })
  const { session } = await asked.json()
  const message = new TextEncoder().encode(JSON.stringify({ fromEnd: true }))
  const body = new Uint8Array(5 + message.length)
  new DataView(body.buffer).setUint32(1, message.length)
  body.set(message, 5)
  const answer = await fetch('/roster.notifier.v1.EventService/WatchOrganizationEvents', {
    method: 'POST',
    headers: {
      'content-type': 'application/connect+json',
      'connect-protocol-version': '1',
      'roster-console-session': session,
    },
    body,
  })
  window.streamed += 'opened ' + answer.status + ' '
  const read = async () => {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) window.streamed += part.value
    window.streamed += 'over'
  }
  read().catch((error) => (window.streamed += error))
})()`

/** Ends TLS in front of a gateway, as a proxy that changes nothing else. */
async function startTlsProxy(gateway: string) {
  const { cert, key, remove } = makeCertificate()
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (incoming, outgoing) => {
    const { method, headers, url } = incoming
    const onward = requestOf(new URL(url!, gateway), { method: method!, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      // What has come goes on at once, as a stream's first frames.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      remove()
    },
  }
}
