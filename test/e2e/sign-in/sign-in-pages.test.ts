import { beforeAll, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  formOf,
  newWebApplication,
  openBrowser,
  redirectUri,
  type Shown,
} from '../../examples/sign-in.ts'

const { url } = inject('roster')

let application: ExampleApplication
let person: ExampleHuman
beforeAll(async () => {
  const home = await newOrganization()
  const projectId = await newProject(home)
  ;[application, person] = await Promise.all([
    newWebApplication(home, projectId),
    newHuman(home, { password: unique('Password') }),
  ])
})

const authorize = (more: Record<string, string> = {}) => authorizePath(application, more)

/** What an application reads in the address that a browser brings to it. */
function answerIn(location: string) {
  expect(location.startsWith(`${redirectUri}&`)).toBe(true)
  return Object.fromEntries(new URL(location).searchParams)
}

const given = { of: 'tests', state: 'a state & more', iss: url, code: expect.stringMatching(/./) }

test('a person signs in once, and comes to the application with a code, the next time at once', async () => {
  const browser = openBrowser()
  const asked = await browser.visit(authorize())
  expect(asked).toMatchObject({ status: 200, body: expect.stringContaining('name="password"') })
  const again = await browser.submit(asked, { action: 'sign-in', login_name: person.userName, password: 'not it' })
  expect(again).toMatchObject({ status: 200, body: expect.stringContaining('role="alert"') })
  const { userName: login_name, password } = person
  const leaving = await browser.submit(again, { action: 'sign-in', login_name, password })
  const [, link] = /<a[^>]* href="([^"]+)"/.exec(leaving.body)!
  expect(answerIn(link!.replaceAll('&amp;', '&'))).toEqual(given)
  const { status, location } = await browser.visit(authorize())
  expect([status, answerIn(location)]).toEqual([302, given])
})

test('a password longer than any is as wrong as another one, of whomever', async () => {
  const answers = [person.userName, unique('nobody')].flatMap((login_name) =>
    ['x'.repeat(201), 'ü'.repeat(2000), 'not it'].map(async (password) => {
      const browser = openBrowser()
      const shown = await browser.submit(await browser.visit(authorize()), { action: 'sign-in', login_name, password })
      return { ...shown, body: shown.body.replaceAll(login_name, '').replaceAll(/value="[^"]*"|action="[^"]*"/g, '') }
    }),
  )
  const [first, ...others] = await Promise.all(answers)
  expect(first).toMatchObject({ status: 200, body: expect.stringContaining('do not match') })
  for (const other of others) expect(other).toEqual(first)
})

test('another browser has nobody signed in', async () => {
  const { location } = await openBrowser().visit(authorize({ prompt: 'none' }))
  expect(answerIn(location)).toMatchObject({ error: 'login_required', state: 'a state & more', iss: url })
})

test('a request for a resource, and one with any parameter twice, is answered with an error', async () => {
  const resource = 'resource=https%3A%2F%2Fapi.example.com'
  const ofTwo = ['authorization_details', 'x'.repeat(300), ''].map((name) => `${name}=1&${name}=2`)
  for (const [more, error] of [
    [resource, 'invalid_target'],
    [`${resource}&resource=urn%3Aother`, 'invalid_target'],
    ['resource=&one=1&two=2', 'login_required'],
    ...ofTwo.map((twice) => [twice, 'invalid_request'] as const),
    [Array.from({ length: 400 }, (_, n) => `p${n}=1&p${n}=2`).join('&'), 'invalid_request'],
  ] as const) {
    const path = authorize({ prompt: 'none' })
    const [at, query] = path.split('?')
    const body = `${query}&${more}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const shown of [
      await openBrowser().visit(`${path}&${more}`),
      await openBrowser().visit(at!, { method: 'POST', body, headers }),
    ])
      expect(answerIn(shown.location)).toMatchObject({ error, state: 'a state & more' })
  }
})

test('a state of 8,192 characters comes back, and a longer one is a page, to whomever it is sent', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const both = async (state: string) => {
    const path = authorize({ prompt: 'none', state })
    const [at, body] = path.split('?')
    return [await openBrowser().visit(path), await openBrowser().visit(at!, { method: 'POST', body: body!, headers })]
  }
  const most = 's'.repeat(8192)
  for (const { location } of await both(most)) expect(answerIn(location)['state']).toBe(most)
  // Neither the head of a request nor its form may have the last.
  for (const length of [8193, 15_000, 25_000])
    for (const { status, location, body } of await both('s'.repeat(length))) {
      expect([413, 431]).toContain(status)
      expect([location, body.startsWith('<!doctype html>')]).toEqual(['', true])
    }
})

test('a form that another browser or another site sends does nothing, and a link decides nothing', async () => {
  const [browser, other] = [openBrowser(), openBrowser()]
  const { userName: login_name, password } = person
  const signingIn = { action: 'sign-in', login_name, password }
  const refuse = async (page: Shown, filled: Record<string, string>) => {
    const foreign = await other.submit(page, filled)
    expect([foreign.status, foreign.body.includes('code=')]).toEqual([400, false])
    const { action, fields } = formOf(page.body)!
    const body = new URLSearchParams({ ...fields, ...filled })
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await browser.visit(action, { method: 'POST', body, headers })).status).toBe(403)
    const link = await browser.visit(`${action}?${String(body)}`)
    expect([link.location, link.body.includes('code=')]).toEqual(['', false])
  }
  await other.visit(authorize())
  const asked = await browser.visit(authorize({ prompt: 'consent' }))
  await refuse(asked, signingIn)
  const asking = await browser.submit(asked, signingIn)
  expect(asking.body).toContain('value="allow"')
  await refuse(asking, { action: 'allow' })
  expect((await browser.submit(asking, { action: 'allow' })).body).toContain('code=')
})
