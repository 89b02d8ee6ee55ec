import { withoutChromium } from '#test/support/browsers/chromium'
import { buildConsole } from '../../console/build/build.ts'
import { startConsoleHouse, type ConsoleHouse, type Person } from './console-house.ts'
import type { ConsoleBrowser } from './console-browser.ts'

/** What the tests of the console share. */
export let house: ConsoleHouse
export let ada: Person
/** Ada is in the console there, with this session. */
export let browser: ConsoleBrowser
export let session: string

export async function setStage(): Promise<void> {
  if (!withoutChromium) await buildConsole()
  // Sessions last longer than the console keeps anybody.
  house = await startConsoleHouse({ SESSION_LIFETIME: String(30 * 86_400) })
  ada = await house.newPerson()
  await enter()
}

/** Ada signs in with a new browser. */
export async function enter(): Promise<void> {
  ;({ browser, session } = await house.signIn(ada))
}
