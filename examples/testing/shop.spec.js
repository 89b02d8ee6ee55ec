import { expect, test } from '@playwright/test'
import { stateOf } from './people.js'

test.describe('a reader', () => {
  test.use({ storageState: stateOf('reader') })

  test('reads the books', async ({ page }) => {
    await page.goto('/books')
    await expect(page.getByText('The Mythical Man-Month')).toBeVisible()
  })
})

test.describe('a guest', () => {
  test.use({ storageState: stateOf('guest') })

  test('is told which role is missing', async ({ page }) => {
    await page.goto('/books')
    await expect(page.getByText('This needs the role reader.')).toBeVisible()
  })
})

test('whoever is not signed in comes to the page of Roster', async ({ page }) => {
  await page.goto('/books')
  await expect(page.getByLabel('Password')).toBeVisible()
})
