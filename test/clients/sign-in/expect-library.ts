import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { documentPart } from '../../support/document-part.ts'
import { isRenewing } from '../../support/expect-part.ts'
import type { Place } from './place.ts'

/** A row of the table in docs/sign-in/libraries.md, and a program that signs people in as the library's manual shows. */
export interface Library {
  name: string
  version: string
  /** The path of its redirect URI. */
  callback: string
  /** Starts it at an address, with what it needs in its environment: as its manual shows, or with the line, too. */
  start(place: Place, origin: string, env: Record<string, string>, line: boolean): Promise<unknown>
  /** The button of its own page. */
  button?: string
  /** Where it keeps no secret. */
  inBrowser?: true
  /** What it needs to be taken, where its manual is not enough. */
  line?: string
  /** Where its manual is wrong of something else than Roster: what to write in place of it. */
  but?: string
  /** Waits until it shows the name and the role. */
  shows?(page: Page): Promise<void>
}

const scope = 'openid profile email roles'

/**
 * Holds a library against its row: what it sends as it comes, whether a person is signed in then with name and role, and
 * where not, that Roster's page names the parameter, and that the one line is enough. With `-u`, the row is written.
 */
export async function expectLibrary(place: Place, library: Library): Promise<void> {
  const { name, version, line, but } = library
  let sent = await begin(place, library, false)
  const asItComes = sent.authorize
  if (line) {
    await sent.page.getByText('code_challenge').first().waitFor()
    sent = await begin(place, library, true)
  }
  await place.signIn(sent.page)
  await (library.shows ?? showsPerson)(sent.page)
  const [proof] = place.recorder.to('/oauth/v2/token')
  const row = [
    `${name} ${version}`,
    asItComes.get('code_challenge_method') ?? '–',
    asItComes.has('nonce') ? 'yes' : '–',
    asItComes.get('response_mode') ?? '–',
    proof!.authorization ? 'header' : proof!.parameters.has('client_secret') ? 'form' : '–',
    line ? 'refused: `code_challenge`' : but ? `yes, but ${but}` : 'yes',
    line ?? '',
  ]
  expectRow(row)
  await sent.page.context().close()
}

/** Starts the program as an application of its own, and comes to Roster with a browser. */
async function begin(place: Place, { name, callback, button, inBrowser, start }: Library, line: boolean) {
  const origin = `http://localhost:${await freePort(0)}`
  const { clientId, clientSecret = '' } = await place.act('AddOIDCApplication', {
    projectId: place.projectId,
    name,
    appType: inBrowser ? 'OIDC_APP_TYPE_USER_AGENT' : 'OIDC_APP_TYPE_WEB',
    authMethodType: inBrowser ? 'OIDC_AUTH_METHOD_TYPE_NONE' : 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    redirectUris: [origin + callback],
    idTokenUserinfoAssertion: true,
    idTokenRoleAssertion: true,
    devMode: true,
  })
  const client = { ISSUER: place.issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  await start(place, origin, { ...client, SCOPE: scope, PORT: new URL(origin).port }, line)
  place.recorder.forget()
  const page = await place.openPage()
  await page.goto(origin)
  if (button) await page.getByRole('button', { name: button }).click()
  const requests = () => place.recorder.to('/oauth/v2/authorize')
  await expect.poll(() => requests().length, { timeout: 30_000 }).toBeGreaterThan(0)
  return { page, authorize: requests()[0]!.parameters }
}

async function showsPerson(page: Page) {
  await page.getByText('Signed in as Ada L., reader').waitFor()
}

function expectRow(row: string[]) {
  const part = documentPart('sign-in/libraries.md', 'table')
  const [head, line, ...rows] = part.text.split('\n')
  const own = `| ${row.join(' | ')} |`.replaceAll('|  |', '| |')
  const known = rows.find((each) => nameIn(each) === nameIn(own))
  if (!isRenewing()) return expect(own, 'With -u, this test writes its row again.').toBe(known)
  const all = [...rows.filter((each) => each !== known), own]
  part.replace([head, line, ...all.toSorted((one, other) => one.localeCompare(other, 'en'))].join('\n'))
}

/** Without the version. */
function nameIn(row: string): string {
  return row.slice(2).replace(/ \d.*$/, '')
}
