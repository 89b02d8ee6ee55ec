import type { JsonObject } from '@bufbuild/protobuf'
import { call } from '../../e2e/clients/encodings.ts'
import { startOwnHouse } from '../../e2e/own-house.ts'
import type { Operation } from '../../examples/contract.ts'
import { ok } from '../../examples/people.ts'
import type { ForeignUpstream, RunningUpstream } from './upstream.ts'

const password = 'the password of Katherine'
const person = { email: 'katherine@example.com', firstName: 'Katherine', lastName: 'Johnson' }

/** Another Roster, with servers of its own. */
export const secondRoster: ForeignUpstream = {
  name: 'another Roster',
  why: '',
  issuerAt: (origin) => origin,
  start,
  person,
  async signIn(page) {
    const name = page.getByLabel('Login name')
    if (await name.isEditable()) await name.fill('katherine')
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
  },
}

async function start(port: number, redirectUri: string): Promise<RunningUpstream> {
  const house = await startOwnHouse({}, { PUBLIC_URL: `http://127.0.0.1:${port}`, PORT: String(port) })
  const act = async (operation: Operation, request: JsonObject) => ok(await call(operation, request, house.machine))
  const { email, ...profile } = person
  await act('AddHumanUser', { userName: 'katherine', password, profile, email: { email, isVerified: true } })
  const { id: projectId } = await act('AddProject', { name: 'Customers' })
  const { clientId, clientSecret } = await act('AddOIDCApplication', {
    projectId,
    name: 'The first Roster',
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
    redirectUris: [redirectUri],
    firstParty: true,
    // For the address of the first one, which is not https.
    devMode: true,
  })
  return { clientId, clientSecret, stop: () => house.stop() }
}
