import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, elsewhere, unlessThereIs } from '../build.ts'
import { expectLibrary, type Library } from './expect-library.ts'
import { openPlace, type Place } from './place.ts'
import { versionIn } from './version-in.ts'

// Beside the examples, which others of these tests run with the same libraries.
const why = withoutChromium || elsewhere || unlessThereIs('python3')
const pins = readFileSync(join(import.meta.dirname, 'python/requirements.txt'), 'utf8')
const install = 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'
const program = (name: string, pin: string, callback: string, commands: string): Library => ({
  name,
  version: versionIn(pins, pin),
  callback,
  async start(place, origin, env) {
    const cwd = await build('sign-in/python', {}, install)
    const PATH = `${join(cwd, '.venv/bin')}:${process.env['PATH']}`
    return place.start(['bash', '-ec', commands], origin, { cwd, env: { ...env, PATH } })
  },
})

const libraries = [
  program('Flask with Authlib', 'Authlib', '/callback', 'exec flask --app with_flask run --port $PORT'),
  program('Starlette (FastAPI) with Authlib', 'Authlib', '/callback', 'exec uvicorn with_starlette:app --port $PORT'),
  {
    ...program(
      'mozilla-django-oidc',
      'mozilla-django-oidc',
      '/oidc/callback/',
      'python with_django.py migrate && exec python with_django.py runserver --noreload $PORT',
    ),
    but: '`OIDC_RP_SIGN_ALGO="RS256"` has to be set, and name and roles need a class of yours ([more](flask.md#django))',
  },
]

const hub: Library = {
  name: 'JupyterHub with oauthenticator',
  version: versionIn(readFileSync(join(import.meta.dirname, 'jupyterhub/requirements.txt'), 'utf8'), 'oauthenticator'),
  callback: '/hub/oauth_callback',
  async start(place, origin, env) {
    const cwd = await build('sign-in/jupyterhub', {}, `${install} && npm ci`)
    const ports = { HUB_PORT: String(await freePort(0)), PROXY_PORT: String(await freePort(0)) }
    const command = [join(cwd, '.venv/bin/jupyterhub'), '-f', 'jupyterhub_config.py']
    await place.start(command, origin, { cwd, env: { ...env, ...ports } })
    // Its proxy answers before the hub is there.
    const status = async () => (await fetch(`${origin}/hub/login`, { redirect: 'manual' })).status
    await expect.poll(status, { timeout: 60_000 }).toBe(302)
  },
  // It writes names in small letters. Who lacks the role does not get in.
  shows: (page) => page.getByText('ada l.').first().waitFor(),
}

describe.skipIf(why)(`libraries for Python${why}:`, () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place?.close())

  const title = '$name signs a person in with name and role as its row says'
  test.each(libraries)(title, (library) => expectLibrary(place, library))
  const noHub = unlessThereIs('npm')
  test.skipIf(noHub).each([hub])(title + noHub, (library) => expectLibrary(place, library))
})
