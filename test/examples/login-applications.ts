import { call, recordSecret } from '../e2e/clients/encodings.ts'
import { admin, newMachine, ok } from './people.ts'
import { authorizePath, openBrowser } from './sign-in.ts'
import type { ExampleApplication } from './applications.ts'

export const loginPages = 'https://login.example.com/pages'
/** The setting of an application whose people sign in there. */
export const onLoginPages = { loginVersion: { loginV2: { baseUri: loginPages } } }

/** The caller that a login application is: a machine with this role on the instance. */
export async function newLoginClient(organization: string, role = 'IAM_LOGIN_CLIENT'): Promise<{ token: string }> {
  const userId = await newMachine(organization)
  ok(await call('AddInstanceMember', { userId, roles: [role] }, admin()))
  const { token } = ok(await call('AddPersonalAccessToken', { userId }, admin()))
  recordSecret(token)
  return { token }
}

/** Begins a request of an application, and returns its id, as the login application gets it. */
export async function beginAtLogin(application: ExampleApplication, more: Record<string, string> = {}) {
  const { status, location } = await openBrowser().visit(authorizePath(application, more))
  const [, id] = /^https:\/\/login\.example\.com\/pages\/login\?authRequest=(V2_[\w-]{22})$/.exec(location) ?? []
  if (status !== 302 || id === undefined) throw new Error(`expected the login application: ${status} ${location}`)
  return id
}
