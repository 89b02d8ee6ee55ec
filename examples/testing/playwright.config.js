import { defineConfig } from '@playwright/test'

const { SHOP = 'http://localhost:3000', CHROMIUM } = process.env

export default defineConfig({
  use: {
    baseURL: SHOP,
    // Roster's pages speak the language of the browser.
    locale: 'en',
    launchOptions: { executablePath: CHROMIUM, args: CHROMIUM ? ['--no-sandbox'] : [] },
  },
  projects: [
    { name: 'sign-in', testMatch: '*.setup.js' },
    { name: 'shop', testMatch: '*.spec.js', dependencies: ['sign-in'] },
  ],
})
