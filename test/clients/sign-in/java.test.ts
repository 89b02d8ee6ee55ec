import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/chromium.ts'
import { build, unlessThereIs } from '../build.ts'
import { ask, refreshes, signIn } from './browse.ts'
import { expectGuarded } from './expect-guarded.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { register } from './register.ts'

const why = withoutChromium || unlessThereIs('java', 'mvn')

describe.skipIf(why)(`the examples in Java${why}:`, () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place?.close())

  async function run(example: string, archive: string, origin: string, env: Record<string, string>) {
    const folder = await build(`examples/${example}`, filesOf(example), `mvn package -f ${example}/pom.xml`)
    const command = ['java', '-jar', join(folder, example, 'target', archive)]
    await place.start(command, origin, { cwd: folder, env: { ...env, PORT: new URL(origin).port } })
  }

  test('Spring Security signs a person in with name and role, refreshes, and signs out at Roster, too', async () => {
    const origin = `http://localhost:${await freePort(0)}`
    const env = await register(place, 'spring-client.md', { 'http://localhost:8081': origin })
    await run('spring-client', 'shop-1.jar', origin, env)

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

  test('a Spring resource server takes a JWT with the role, and no other', async () => {
    const origin = `http://localhost:${await freePort(0)}`
    await run('spring-api', 'books-1.jar', origin, { ISSUER: place.issuer, PROJECT_ID: place.projectId })
    await expectGuarded(place, `${origin}/books`, 'JWT')
  })
})
