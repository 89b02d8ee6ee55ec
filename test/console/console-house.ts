import { randomBytes } from 'node:crypto'
import { createLog } from '#lib/log'
import { openDatabase } from '#lib/database/database'
import { createDatabase } from '#test/support/database'
import { callJson } from '../e2e/clients/json.ts'
import type { Operation } from '../examples/contract.ts'
import { ok } from '../examples/people.ts'
import { startHouse } from '../house.ts'
import { type ConsoleBrowser, openConsoleBrowser } from './console-browser.ts'

const log = createLog('test', 'silent')

/** The usual way to a page of the console. */
export const page = '/ui/console/o/x/people?sort=name'
/** Operations as Connect names them. */
export const ownOrganization = 'grants.v1.OrganizationService/GetMyOrganization'
export const me = 'users.v1.UserService/GetMyUser'

export type ConsoleHouse = Awaited<ReturnType<typeof startConsoleHouse>>
export interface Person {
  userId: string
  name: string
  password: string
  organizationId: string
}

/** A Roster whose browsers come by https, as they believe. */
export async function startConsoleHouse(settings: Record<string, string> = {}) {
  const publicUrl = settings['PUBLIC_URL'] ?? 'https://127.0.0.1'
  const origin = settings['CONSOLE_URL'] ?? publicUrl
  const database = await createDatabase()
  const house = await startHouse(database.urls, { PUBLIC_URL: publicUrl, ...settings }, { log })
  const sql = openDatabase(database.urls.users, 'users', log)

  const act = async (operation: Operation, request: object = {}, organization?: string) =>
    ok(await callJson(operation, request as never, { url: house.url, token: house.adminToken, organization }))

  /** Somebody with roles in an organization of their own. */
  async function newPerson(roles = ['ORG_OWNER'], displayName = 'Ada L.'): Promise<Person> {
    const name = `p-${randomBytes(6).toString('hex')}`
    const { organizationId } = await act('AddOrganization', { name })
    const password = `${name}-password`
    const profile = { firstName: 'Ada', lastName: 'L', displayName }
    const email = { email: `${name}@example.com`, isVerified: true }
    const { userId } = await act('AddHumanUser', { userName: name, profile, email, password }, organizationId)
    if (roles.length > 0) await act('AddOrganizationMember', { userId, roles }, organizationId)
    return { userId, name, password, organizationId }
  }

  const openBrowser = () => openConsoleBrowser(house.url, publicUrl, origin)

  /** Signs in to the console; `session`: its name. */
  async function signIn(person: Person, browser: ConsoleBrowser = openBrowser(), to = page, more = '') {
    const path = `/ui/console/sign-in?to=${encodeURIComponent(to)}${more}`
    const shown = await browser.signIn(path, person.name, person.password)
    const { status, body } = await browser.session()
    if (status !== 200) throw new Error(`not signed in: ${shown.path} ${shown.status} ${JSON.stringify(body)}`)
    return { browser, shown, session: body.session as string }
  }

  return {
    url: house.url,
    adminToken: house.adminToken,
    publicUrl,
    origin,
    sql,
    act,
    newPerson,
    openBrowser,
    signIn,
    async stop() {
      await sql.end()
      await house.stop()
      await database.drop()
    },
  }
}
