import { inject } from 'vitest'
import { newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, callbackOf, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import type { Kind, Peer } from './peer.ts'

const settings: Record<Kind, object> = {
  basic: {},
  post: { authMethodType: 'OIDC_AUTH_METHOD_TYPE_POST' },
  public: { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' },
  lax: { allowMissingPkce: true },
}
const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
/** So many that none has ten failures, which are counted. */
const mostOfKind = 8

/** The Roster of the run. */
export async function openRoster(): Promise<Peer> {
  const { url } = inject('roster')
  const home = await newOrganization()
  const [projectId, person] = [await newProject(home), await newHuman(home, { password: unique('Password') })]
  // One sign-in is enough for all clients.
  const browser = openBrowser()
  const made: Record<Kind, ReturnType<typeof newWebApplication>[]> = { basic: [], post: [], public: [], lax: [] }
  return {
    issuer: url,
    endpoints: {
      authorize: `${url}/oauth/v2/authorize`,
      token: `${url}/oauth/v2/token`,
      userinfo: `${url}/oidc/v1/userinfo`,
      introspect: `${url}/oauth/v2/introspect`,
      revoke: `${url}/oauth/v2/revoke`,
    },
    async newClient(kind) {
      const all = made[kind]
      const next =
        all.length < mostOfKind ? newWebApplication(home, projectId, { grantTypes, ...settings[kind] }) : all.shift()!
      all.push(next)
      const { clientId, clientSecret } = await next
      return { kind, clientId, clientSecret }
    },
    async signIn({ clientId, clientSecret }) {
      if (browser.cookie() === '')
        await callbackOf(person, authorizePath({ projectId, appId: '', clientId, clientSecret }), browser)
      return new Map([browser.cookie().split('=') as [string, string]])
    },
  }
}
