/** An example that Roster knows as an application. */
export interface Example {
  which: 'web' | 'page'
  issuer: string
  projectId: string
  clientId: string
  /** Empty for the page, which could keep no secret. */
  clientSecret: string
}

interface Options {
  issuer: string
  /** Of an administrator. */
  token: string
  which: 'web' | 'page'
  /** Where the example listens. */
  origin?: string
}

const projectId = 'example'
const role = 'reader'
/** The id of the first administrator. */
const reader = 'admin'

/**
 * Makes the project `example` with its role and the application, and gives the first administrator the role. What is
 * there already stays; the web server gets a new secret.
 */
export async function registerExample({ issuer, token, which, origin }: Options): Promise<Example> {
  const project = `/management/v1/projects/${projectId}`
  const clientId = `example-${which}`
  const call = (path: string, body: object) => post({ url: issuer + path, token }, body)
  await call('/management/v1/projects', { projectId, name: 'Example' })
  await call(`${project}/roles`, { roleKey: role, displayName: 'Reader' })
  await call(`/management/v1/users/${reader}/grants`, { projectId, roleKeys: [role] })
  const added = await call(`${project}/apps/oidc`, { clientId, name: `Example: ${which}`, ...settings[which](origin) })
  const clientSecret = which === 'page' ? '' : ((added?.['clientSecret'] ?? (await newSecret())) as string)
  return { which, issuer, projectId, clientId, clientSecret }

  async function newSecret() {
    const found = await call(`${project}/apps/_search`, {})
    const { id } = (found!['applications'] as { id: string; oidcConfig?: { clientId: string } }[]).find(
      ({ oidcConfig }) => oidcConfig?.clientId === clientId,
    )!
    return (await call(`${project}/apps/${id}/oidc_config/_generate_client_secret`, {}))!['clientSecret']
  }
}

const settings = {
  web: (origin = 'http://localhost:3000') => ({
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    redirectUris: [`${origin}/callback`],
    // Takes http on this machine.
    devMode: true,
  }),
  page: (origin = 'http://localhost:3002') => ({
    appType: 'OIDC_APP_TYPE_USER_AGENT',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    redirectUris: [`${origin}/`],
    // The API reads the roles in the token.
    accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
    accessTokenRoleAssertion: true,
    devMode: true,
  }),
}

// The answer, or undefined where the thing is already there.
async function post({ url, token }: { url: string; token: string }, body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const read = (await answer.json()) as Record<string, unknown>
  if (answer.ok) return read
  if (answer.status === 409) return undefined
  throw new Error(`${url}: ${String(read['message'])}`)
}
