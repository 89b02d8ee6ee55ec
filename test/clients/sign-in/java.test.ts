import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, unlessThereIs } from '../build.ts'
import { ask, refreshes, signIn } from './browse.ts'
import { expectGuarded } from './expect-guarded.ts'
import { expectLibrary, type Library } from './expect-library.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { register } from './register.ts'
import { versionIn } from './version-in.ts'

const why = withoutChromium || unlessThereIs('java', 'mvn')

/** Spring's example is as the manual shows, too. */
async function runSpring(place: Place, example: string, archive: string, origin: string, env: Record<string, string>) {
  const folder = await build(`examples/${example}`, filesOf(example), `mvn package -f ${example}/pom.xml`)
  const command = ['java', '-jar', join(folder, example, 'target', archive)]
  await place.start(command, origin, { cwd: folder, env: { ...env, PORT: new URL(origin).port } })
}

const pins = (path: string) => readFileSync(join(import.meta.dirname, path, 'pom.xml'), 'utf8')
const libraries: Library[] = [
  {
    name: 'Spring Security (Spring Boot)',
    version: versionIn(pins('../../../examples/spring-client'), 'spring-boot-starter-parent'),
    callback: '/login/oauth2/code/roster',
    start: (place, origin, env) => runSpring(place, 'spring-client', 'shop-1.jar', origin, env),
    shows: (page) => page.getByText('"reader"').waitFor(),
  },
  {
    name: 'Quarkus',
    version: versionIn(pins('quarkus'), 'quarkus.version'),
    callback: '/',
    line: '`quarkus.oidc.authentication.pkce-required=true`',
    async start(place, origin, env, line) {
      const cwd = await build('sign-in/quarkus', {}, 'mvn package')
      const more = line ? ['-Dquarkus.oidc.authentication.pkce-required=true'] : []
      await place.start(['java', ...more, '-jar', 'target/quarkus-app/quarkus-run.jar'], origin, { cwd, env })
    },
  },
]

describe.skipIf(why)(`Java${why}:`, () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place?.close())

  test('Spring Security signs a person in with name and role, refreshes, and signs out at Roster, too', async () => {
    const origin = `http://localhost:${await freePort(0)}`
    const env = await register(place, 'spring-client.md', { 'http://localhost:8081': origin })
    await runSpring(place, 'spring-client', 'shop-1.jar', origin, env)

    const page = await place.openPage()
    await signIn(place, page, `${origin}/`, '')
    expect(JSON.parse((await ask(page, origin)).text)).toEqual({ name: 'Ada L.', roles: ['reader'] })
    expect((await ask(page, `${origin}/books`)).status).toBe(200)
    place.recorder.forget()
    for (let calls = 0; calls < 2; calls++) expect((await ask(page, `${origin}/expiry`)).status).toBe(200)
    expect(refreshes(place)).toHaveLength(2)
    await page.goto(`${origin}/logout`)
    await page.getByRole('button', { name: 'Log Out' }).click()
    // Back at the application, which sends the browser to Roster again.
    await page.getByLabel('Password').waitFor()
  })

  test('Spring Security signs a person in again whose refresh was refused', async () => {
    const origin = `http://localhost:${await freePort(0)}`
    const env = await register(place, 'spring-client.md', { 'http://localhost:8081': origin })
    await runSpring(place, 'spring-client', 'shop-1.jar', origin, env)
    const page = await place.openPage()
    await signIn(place, page, `${origin}/`, '')

    await place.act('DeleteUserSessions', { userId: place.person.userId })
    // The refusal leads to Roster by the example, and the next call by Spring, which has no tokens any more.
    for (let calls = 0; calls < 2; calls++) {
      await page.goto(`${origin}/expiry`)
      await page.getByLabel('Password').waitFor()
    }
    await place.enter(page)
    await page.waitForURL((url) => url.href.startsWith(`${origin}/expiry`))
    expect((await ask(page, `${origin}/expiry`)).status).toBe(200)
  })

  test('a Spring resource server takes a JWT with the role, and no other', async () => {
    const origin = `http://localhost:${await freePort(0)}`
    const env = { ISSUER: place.issuer, PROJECT_ID: place.projectId }
    await runSpring(place, 'spring-api', 'books-1.jar', origin, env)
    await expectGuarded(place, `${origin}/books`, 'JWT')
  })

  test.each(libraries)('$name signs a person in with name and role as its row says', (library) =>
    expectLibrary(place, library),
  )
})
