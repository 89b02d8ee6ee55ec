import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, unlessThereIs } from '../build.ts'
import { ask, expectSignedOut, refreshes, signIn } from './browse.ts'
import { expectGuarded } from './expect-guarded.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { register } from './register.ts'

const why = withoutChromium || unlessThereIs('python3')

describe.skipIf(why)(`the examples in Python${why}:`, () => {
  let place: Place
  let folder: string
  let port: string
  let origin: string

  beforeAll(async () => {
    const folders = ['flask', 'django', 'api']
    const packages = folders.map((each) => `-r ${each}/requirements.txt`).join(' ')
    const commands = `python3 -m venv .venv && .venv/bin/pip install ${packages}`
    folder = await build('examples/python', filesOf(...folders), commands)
    place = await openPlace()
  })
  afterAll(() => place?.close())

  async function run(example: string, env: Record<string, string>, commands: string) {
    port = new URL(origin).port
    const PATH = `${join(folder, '.venv/bin')}:${process.env['PATH']}`
    const command = ['bash', '-ec', commands.replace('PORT', port)]
    return place.start(command, origin, { cwd: join(folder, example), env: { ...env, PATH } })
  }
  const newOrigin = async () => (origin = `http://localhost:${await freePort(0)}`)

  test('Flask with Authlib signs a person in with name and role, refreshes, and signs out at Roster, too', async () => {
    const addresses = { 'http://localhost:5000': await newOrigin() }
    await run('flask', await register(place, 'flask.md', addresses), 'exec flask run --port PORT')

    const page = await place.openPage()
    expect((await ask(page, `${origin}/books`)).status).toBe(403)
    await signIn(place, page, origin)
    expect(JSON.parse((await ask(page, origin)).text)).toEqual({ name: 'Ada L.', roles: ['reader'] })
    expect((await ask(page, `${origin}/books`)).status).toBe(200)
    place.recorder.forget()
    for (let calls = 0; calls < 2; calls++)
      expect(JSON.parse((await ask(page, `${origin}/me`)).text)).toMatchObject({ email: place.person.email })
    expect(refreshes(place)).toHaveLength(2)
    await page.goto(`${origin}/sign-out`)
    await expectSignedOut(page, origin)
  })

  test('Flask says why a person is not signed in', async () => {
    const addresses = { 'http://localhost:5000': await newOrigin() }
    const env = await register(place, 'flask.md', addresses)
    const said = await run('flask', { ...env, CLIENT_SECRET: 'another one' }, 'exec flask run --port PORT')
    const page = await place.openPage()
    await signIn(place, page, origin)
    await page.getByText('invalid_client').waitFor()
    expect(said()).toContain('sign-in refused: invalid_client')
  })

  test('Django with mozilla-django-oidc signs a person in with name and role, and signs out at Roster, too', async () => {
    const addresses = { 'http://localhost:8000': await newOrigin() }
    const env = { ...(await register(place, 'flask.md', addresses, 'Django')), DATABASE: `${port}.sqlite3` }
    await run('django', env, 'python shop.py migrate && exec python shop.py runserver --noreload PORT')

    const page = await place.openPage()
    await signIn(place, page, origin)
    await page.getByText('Hello, Ada L. (reader)').waitFor()
    expect((await ask(page, `${origin}/books`)).status).toBe(200)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expectSignedOut(page, origin)
  })

  test('an API in Python that checks JWTs by keys takes one with the role, and no other', async () => {
    await newOrigin()
    const env = { ISSUER: place.issuer, PROJECT_ID: place.projectId }
    await run('api', env, 'exec flask --app jwt_tokens run --port PORT')
    await expectGuarded(place, `${origin}/books`, 'JWT')
  })

  test('an API in Python that asks about tokens takes one with the role, and no other', async () => {
    await newOrigin()
    const env = { ...(await register(place, 'api.md', {}, 'Opaque tokens')), PROJECT_ID: place.projectId }
    await run('api', env, 'exec flask --app opaque_tokens run --port PORT')
    await expectGuarded(place, `${origin}/books`, 'BEARER')
  })
})
