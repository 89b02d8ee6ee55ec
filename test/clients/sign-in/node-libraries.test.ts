import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, elsewhere, unlessThereIs } from '../build.ts'
import { expectLibrary, type Library } from './expect-library.ts'
import { openPlace, type Place } from './place.ts'
import { versionIn } from './version-in.ts'

const pins = readFileSync(join(import.meta.dirname, 'npm/package.json'), 'utf8')
const program = (name: string, file: string, more: Omit<Library, 'name' | 'version' | 'start'>): Library => ({
  name,
  version: versionIn(pins, `"${name}"`),
  start: async (place, origin, env) =>
    place.start(['node', file], origin, { cwd: await build('sign-in/npm', {}, 'npm ci'), env }),
  ...more,
})

const libraries = [
  program('@auth/express', 'auth-express.js', {
    callback: '/auth/callback/roster',
    button: 'Sign in with Roster',
    but: 'its mount `/auth/*` is for Express 4: `/auth` ([more](auth-express.md))',
  }),
  program('next-auth', 'next-auth.js', { callback: '/api/auth/callback/roster', button: 'Sign in with Roster' }),
  program('oidc-client-ts', 'oidc-client-ts.js', { callback: '/callback', inBrowser: true }),
]

const why = withoutChromium || elsewhere || unlessThereIs('npm')

describe.skipIf(why)(`libraries for Node and the browser${why}:`, () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place?.close())

  test.each(libraries)('$name signs a person in with name and role as its row says', (library) =>
    expectLibrary(place, library),
  )
})
