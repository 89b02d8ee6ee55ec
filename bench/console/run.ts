// `npm run bench -- --only Console`: what a person waits for in the console, in Chromium, with many people in the organization.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openChromium } from '../../test/support/browsers/chromium.ts'
import { openCheck } from '../check.ts'
import { openClient } from '../load/client.ts'
import { addHumans } from '../load/users.ts'
import { median } from '../speed/measure.ts'
import type { Options } from '../options.ts'
import { startSystem, type System } from '../system.ts'

const loads = 5
const password = 'the password of a bench'
/** 150 ms and 1.6 Mbit/s, with a processor four times slower. */
const slow = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000, offline: false }
const slowdown = 4

/** Measures with `objects` people. Returns what is above its budget. */
export async function measureConsole({ objects }: Options): Promise<string[]> {
  const system = await startSystem()
  const browser = await openChromium()
  try {
    const url = `http://localhost:${new URL(system.urls[0]!).port}/ui/console`
    console.log(`Adding ${objects} people ...`)
    await addHumans(system, objects)
    await settle(system)
    const cookies = await signIn(browser, url, await addOwner(system))
    return [
      ...(await measureLoads(browser, url, cookies)),
      ...(await measureSearch(browser, url, cookies, objects)),
      ...(await measureViews(browser, url, cookies)),
    ]
  } finally {
    await browser.close()
    await system.stop()
  }
}

// As it is a minute after so many people came at once. Until then PostgreSQL sorts them all for each page of a list.
async function settle({ servers }: System): Promise<void> {
  const check = openCheck(servers)
  await check.settled()
  await check.analyzed()
  await check.close()
}

async function addOwner(system: System): Promise<string> {
  const client = openClient(system)
  const [userId] = await addHumans(system, 1)
  await client.ask('POST', `/v2/users/${userId}/password`, { newPassword: { password } })
  await client.ask('POST', '/admin/v1/members', { userId, roles: ['IAM_OWNER'] })
  client.close()
  return userId!
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

async function signIn(browser: Browser, url: string, loginName: string): Promise<Cookies> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${url}/o/default/people`)
  await page.locator('[name=login_name]').fill(loginName)
  await page.locator('[name=password]').fill(password)
  await page.keyboard.press('Enter')
  await rowsOf(page)
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

const rowsOf = (page: Page) => page.locator('tbody:not(.skeleton) tr').first().waitFor()

async function openPage(browser: Browser, cookies: Cookies): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies(cookies)
  return context.newPage()
}

async function measureLoads(browser: Browser, url: string, cookies: Cookies): Promise<string[]> {
  const times = { cold: [] as number[], warm: [] as number[], shifts: [] as number[] }
  for (let n = 0; n < loads; n++) {
    const page = await openPage(browser, cookies)
    await page.addInitScript(observe)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', slow)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    for (const kind of ['cold', 'warm'] as const) {
      await page.goto(`${url}/o/default/people`, { waitUntil: 'commit' })
      times[kind].push(await untilUsable(page))
    }
    times.shifts.push(await page.evaluate<number>('window.shifted'))
    await page.context().close()
  }
  return [
    ...say('people, usable cold on a slow network', median(times.cold), 2500),
    ...say('people, usable warm on a slow network', median(times.warm), 1000),
    ...say('layout shift', Math.max(...times.shifts), 0.001, ''),
  ]
}

// The page itself notes when it has rows: what Playwright waits by would take seconds on so slow a processor.
const observe = `
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  new MutationObserver((_, observer) => {
    if (!document.querySelector('tbody:not(.skeleton) tr')) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => (window.usable = performance.now())))
  }).observe(document, { childList: true, subtree: true })
`

/** Milliseconds from the request of the page until it shows rows. */
async function untilUsable(page: Page): Promise<number> {
  for (;;) {
    const usable = await page.evaluate<number | null>('window.usable ?? null')
    if (usable !== null) return usable
    await page.waitForTimeout(50)
  }
}

async function measureSearch(browser: Browser, url: string, cookies: Cookies, objects: number): Promise<string[]> {
  const page = await openPage(browser, cookies)
  await page.goto(`${url}/o/default/people`)
  await rowsOf(page)
  const times: number[] = []
  for (let n = 0; n < loads; n++) {
    const name = `bench-${Math.floor((objects * (n + 0.5)) / loads)}`
    const answered = page.waitForResponse(
      (response) => response.url().endsWith('/SearchUsers') && (response.request().postData() ?? '').includes(name),
    )
    await page.locator('.filters input').fill(name)
    const began = performance.now()
    await answered
    await page.getByText(`${name}@example.com`).first().waitFor()
    times.push(performance.now() - began)
  }
  await page.context().close()
  // A list debounces what is typed by 150 ms.
  return say(`find one of ${objects} people, with the debounce of 150 ms`, median(times), 350)
}

// Beside the API: from the click until nothing is drawn any more, but for the time in which an answer is under way.
async function measureViews(browser: Browser, url: string, cookies: Cookies): Promise<string[]> {
  const page = await openPage(browser, cookies)
  await page.addInitScript(observeClicks)
  await page.goto(`${url}/o/default/people`)
  await rowsOf(page)
  const entries = page.locator('#navigation a[data-letter]')
  const found: string[] = []
  for (let n = 0; n < (await entries.count()); n++) {
    const label = (await entries.nth(n).textContent())!.trim()
    const before = await page.title()
    if (label === before.split(' · ')[0]) continue
    await entries.nth(n).click()
    while ((await page.title()) === before) await page.waitForTimeout(5)
    await page.locator('tbody.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' })
    found.push(...say(`${label}: beside the API`, await page.evaluate<number>('window.besideApi()'), 200))
  }
  await page.context().close()
  return found
}

const observeClicks = `
  addEventListener('click', (event) => (window.clicked = window.drawn = event.timeStamp), { capture: true })
  new MutationObserver(() => (window.drawn = performance.now())).observe(document, { childList: true, subtree: true })
  window.besideApi = () => {
    let [beside, from] = [0, window.clicked]
    const calls = performance.getEntriesByType('resource').filter(({ name }) => /\\/roster\\.[\\w.]+\\/\\w+$/.test(name))
    for (const { startTime, responseEnd } of calls.toSorted((one, other) => one.startTime - other.startTime)) {
      if (responseEnd <= from || startTime >= window.drawn) continue
      beside += Math.max(0, startTime - from)
      from = responseEnd
    }
    return beside + Math.max(0, window.drawn - from)
  }
`

function say(what: string, value: number, budget: number, unit = ' ms'): string[] {
  const text = `${what.padEnd(72)} ${value.toFixed(unit === '' ? 3 : 0)}${unit} (budget ${budget}${unit})`
  console.log(text)
  return value > budget ? [text] : []
}
