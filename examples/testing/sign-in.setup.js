import { test as setup } from '@playwright/test'
import { makePerson, password, people, stateOf } from './people.js'

for (const [name, person] of Object.entries(people))
  setup(`the ${name} signs in`, async ({ page }) => {
    await makePerson(person)
    await page.goto('/')
    await page.getByRole('link', { name: 'Sign in with Roster' }).click()
    await page.getByLabel('Login name').fill(person.userName)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    // Consent is asked for once for each person and application.
    const allow = page.getByRole('button', { name: 'Allow', exact: true })
    const signedIn = page.getByRole('link', { name: 'Sign out' })
    await allow.or(signedIn).waitFor()
    if (await allow.isVisible()) await allow.click()
    await signedIn.waitFor()
    await page.context().storageState({ path: stateOf(name) })
  })
