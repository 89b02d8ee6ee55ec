import type { Page } from 'playwright-core'
import type { Place } from './place.ts'

/** The link of each example. */
const signInLink = 'Sign in with Roster'

/** Comes to the pages of Roster, by the link of an example that has one. */
export async function begin(page: Page, application: string, link = signInLink): Promise<void> {
  await page.goto(application)
  if (link) await page.getByRole('link', { name: link }).click()
}

/** Signs the person in, and is back at the application. */
export async function signIn(place: Place, page: Page, application: string, link?: string): Promise<void> {
  await begin(page, application, link)
  await place.signIn(page)
  await page.waitForURL((url) => url.href.startsWith(application))
}

/** What a request says with the cookies of the browser. */
export async function ask(page: Page, url: string): Promise<{ status: number; text: string }> {
  const answer = await page.request.get(url, { maxRedirects: 0 })
  return { status: answer.status(), text: await answer.text() }
}

/** The browser is back, and the next sign-in asks for the password: the session at Roster has ended, too. */
export async function expectSignedOut(page: Page, application: string, link = signInLink): Promise<void> {
  if (link) await page.getByRole('link', { name: link }).waitFor()
  await begin(page, application, link)
  await page.getByLabel('Password').waitFor()
}

/** The requests by a refresh token since the last `forget`. */
export function refreshes({ recorder }: Place) {
  return recorder.to('/oauth/v2/token').filter(({ parameters }) => parameters.get('grant_type') === 'refresh_token')
}
