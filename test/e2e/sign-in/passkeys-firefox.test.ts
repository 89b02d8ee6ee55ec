import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { hasFirefox } from '../../support/browsers/firefox.ts'
import { type FirefoxWithDevice, openFirefoxWithDevice } from '../../support/browsers/firefox-with-device.ts'
import { call } from '../clients/encodings.ts'
import { newApplication } from '../../examples/applications.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath } from '../../examples/sign-in.ts'

const { url } = inject('roster')
const why = hasFirefox ? '' : ' (skipped: there is no Firefox)'

let firefox: FirefoxWithDevice
let person: ExampleHuman
let request: () => string
let application: Server

beforeAll(async () => {
  if (why) return
  const home = await newOrganization()
  ok(await call('UpdateLoginPolicy', { settings: { allowPasskeys: true } }, admin(home)))
  person = await newHuman(home, { password: unique('Password') })
  application = createServer((_, response) => void response.end('arrived')).listen(0, '127.0.0.1')
  await once(application, 'listening')
  const redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`
  const authMethodType = 'OIDC_AUTH_METHOD_TYPE_NONE'
  const settings = { redirectUris: [redirectUri], devMode: true, firstParty: true, authMethodType }
  const known = await newApplication(home, await newProject(home), settings)
  request = () => `${url}${authorizePath(known, { redirect_uri: redirectUri })}`
  firefox = await openFirefoxWithDevice()
}, 120_000)
afterAll(async () => {
  await firefox?.stop()
  application?.close()
})

const heading = () => firefox.evaluate(`document.querySelector('h1')?.textContent.trim()`)
const problem = () => firefox.evaluate(`document.querySelector('[role=alert]:not([hidden])')?.textContent ?? ''`)
const body = () => firefox.evaluate('document.body.textContent')

describe.skipIf(why)(`a passkey in Firefox${why}`, () => {
  test('is added on the page of the account, and opens it without a name', async () => {
    await firefox.go(`${url}/ui/account/passkeys`)
    await firefox.fill('#login-name', person.userName)
    await firefox.fill('#password', `${person.password}\ue007`)
    await expect.poll(body).toContain('You have none yet.')
    await firefox.click('#passkey-button')
    await expect.poll(body).toContain('Your passkey is added.')
    expect(await firefox.credentials()).toHaveLength(1)
    await firefox.forget()
    await firefox.go(request())
    await expect.poll(heading).toBe('Sign in')
    // A device that does not make sure of the person opens nothing, and the page stays.
    await firefox.verifies(false)
    await firefox.click('#passkey-button')
    await expect.poll(problem).not.toBe('')
    await firefox.verifies(true)
    await firefox.click('#passkey-button')
    await expect.poll(body).toBe('arrived')
  })
})
