import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enter, type PasskeyBrowser, passkeyBrowser } from '../../examples/passkey-browser.ts'
import { newHuman, unique } from '../../examples/people.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { plugIn } from '../../support/browsers/virtual-authenticator.ts'

let at: PasskeyBrowser

beforeAll(async () => {
  if (!withoutChromium) at = await passkeyBrowser()
})
afterAll(async () => {
  await at?.close()
  expect(at?.forbidden ?? []).toEqual([])
})

// Chromium's virtual authenticator makes none without being asked. This one does, and everything around it is Chromium's.
const makesByItself = `
  const create = navigator.credentials.create.bind(navigator.credentials)
  navigator.credentials.create = ({ mediation, ...options }) => {
    localStorage.setItem('mediation', mediation)
    return create(options)
  }
`
const asksFirst = 'PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: false })'

/** A new person, before the first page, in a browser with an empty device. */
async function arrive(script = '') {
  const person = await newHuman(at.home, { password: unique('Password') })
  const page = await at.open('about:blank')
  const device = await plugIn(page)
  if (script) await page.addInitScript(script)
  let loads = 0
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame() && page.url().startsWith(`${at.url}/ui/`)) loads++
  })
  await page.goto(at.request())
  return { person, page, device, loads: () => loads }
}

const arrived = (page: Page) => page.getByText('arrived').waitFor()

/** The script has said what the browser can. */
const isReady = (page: Page, way: string) => expect.poll(() => page.locator('#new-passkey').inputValue()).toBe(way)

async function again({ page, person }: Awaited<ReturnType<typeof arrive>>) {
  await page.context().clearCookies()
  await page.goto(at.request())
  await enter(page, person)
}

describe.skipIf(withoutChromium)(`a passkey after a password in Chromium${withoutChromium}`, () => {
  test('is made without an input where the browser does so, and signs in the next time', async () => {
    const visit = await arrive(makesByItself)
    const { page, person, device } = visit
    await isReady(page, 'conditional')
    await enter(page, person)
    await arrived(page)
    expect(await device.credentials()).toHaveLength(1)
    const inDocs = await readFile(new URL('../../../docs/sign-in/passkeys.md', import.meta.url), 'utf8')
    expect(inDocs).toContain(`| password, and the browser makes a passkey by itself | 1 | ${visit.loads()} |`)
    await page.goto(`${at.url}/ui/account/passkeys`)
    expect(await page.locator('#passkeys li').allTextContents()).toHaveLength(1)
    expect(await page.evaluate(`localStorage.getItem('mediation')`)).toBe('conditional')
    await page.context().clearCookies()
    // By autofill.
    await page.goto(at.request())
    await arrived(page)
    await page.context().close()
  })

  test('that the browser does not make holds up the sign-in for two seconds, and not the next one', async () => {
    const visit = await arrive()
    const { page, person, device } = visit
    await isReady(page, 'conditional')
    await enter(page, person)
    await page.getByRole('heading', { name: 'One moment' }).waitFor()
    const begun = Date.now()
    await arrived(page)
    expect(Date.now() - begun).toBeLessThan(5000)
    expect(await device.credentials()).toEqual([])
    const before = visit.loads()
    await again(visit)
    await arrived(page)
    expect(visit.loads() - before).toBe(2)
    await page.context().close()
  })

  test('is offered by a button where the browser makes none by itself', async () => {
    const { page, person, device } = await arrive(asksFirst)
    await isReady(page, 'button')
    await enter(page, person)
    await page.getByRole('heading', { name: 'Sign in faster the next time' }).waitFor()
    await device.verifies(false)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByText('No passkey was made.').waitFor()
    await device.verifies(true)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await arrived(page)
    expect(await device.credentials()).toHaveLength(1)
    await page.context().close()
  })

  test('that the person does not want is not offered in this browser again', async () => {
    const visit = await arrive(asksFirst)
    const { page, person, device } = visit
    await isReady(page, 'button')
    await enter(page, person)
    await page.getByRole('button', { name: 'Not now' }).click()
    await arrived(page)
    await again(visit)
    await arrived(page)
    expect(await device.credentials()).toEqual([])
    await page.context().close()
  })
})
