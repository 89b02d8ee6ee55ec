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
  /** The one that an earlier registration gave. It is kept while Roster accepts it. */
  clientSecret?: string
}

interface Application {
  id: string
  name: string
  details: { sequence: string }
  oidcConfig: { clientId: string; redirectUris?: string[]; postLogoutRedirectUris?: string[] }
}

const projectId = 'example'
const role = 'reader'
/** The id of the first administrator. */
const reader = 'admin'
/** Of each port that the example had; the oldest go first. */
const mostUris = 20

/**
 * Makes the project `example` with its role and the application, and gives the first administrator the role. An
 * application that is there gets the settings of now, and keeps its redirect URIs: an example may run at another port.
 */
export async function registerExample({ issuer, token, which, origin, clientSecret }: Options): Promise<Example> {
  const project = `/management/v1/projects/${projectId}`
  const { call, callAt } = createCaller(issuer, token)
  await call('POST', '/management/v1/projects', { projectId, name: 'Example' })
  await call('POST', `${project}/roles`, { roleKey: role, displayName: 'Reader' })
  await call('POST', `/management/v1/users/${reader}/grants`, { projectId, roleKeys: [role] })
  const { clientId, secret } = await update()
  return { which, issuer, projectId, clientId, clientSecret: secret }

  async function find(): Promise<Application | undefined> {
    const found = (await call('POST', `${project}/apps/_search`, {})) as { applications?: Application[] }
    return found.applications?.find(({ name }) => name === nameOf(which))
  }

  async function update(): Promise<{ clientId: string; secret: string }> {
    const found = await find()
    if (!found) return add()
    const { id, details, oidcConfig } = found
    const now = settings[which](origin)
    const merge = (name: 'redirectUris' | 'postLogoutRedirectUris') =>
      [...new Set([...now[name], ...(oidcConfig[name] ?? [])])].slice(0, mostUris)
    const uris = { redirectUris: merge('redirectUris'), postLogoutRedirectUris: merge('postLogoutRedirectUris') }
    const config = `${project}/apps/${id}/oidc_config`
    // Another example may be registering at this moment.
    if (!(await callAt(details.sequence, 'PUT', config, { ...now, ...uris }))) return update()
    const { clientId } = oidcConfig
    if (which === 'page') return { clientId, secret: '' }
    if (clientSecret && (await isAccepted(issuer, clientId, clientSecret))) return { clientId, secret: clientSecret }
    const made = await call('POST', `${config}/_generate_client_secret`, {})
    return { clientId, secret: (made as { clientSecret: string }).clientSecret }
  }

  async function add(): Promise<{ clientId: string; secret: string }> {
    const application = { name: nameOf(which), ...settings[which](origin) }
    const added = await call('POST', `${project}/apps/oidc`, { clientId: `example-${which}`, ...application })
    if (!added && (await find())) return update()
    // The id of an application that was removed is never given again.
    const { clientId, clientSecret = '' } = (added ?? (await call('POST', `${project}/apps/oidc`, application))) as {
      clientId: string
      clientSecret?: string
    }
    return { clientId, secret: clientSecret }
  }
}

const nameOf = (which: Example['which']) => `Example: ${which}`

const common = {
  grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
  // Name, address and roles are in the ID token, as most libraries look for them there.
  idTokenUserinfoAssertion: true,
  idTokenRoleAssertion: true,
  // Takes http on this machine.
  devMode: true,
}

const settings = {
  web: (origin = 'http://localhost:3000') => ({
    ...common,
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    redirectUris: [`${origin}/callback`],
    postLogoutRedirectUris: [`${origin}/`],
  }),
  page: (origin = 'http://localhost:3002') => ({
    ...common,
    appType: 'OIDC_APP_TYPE_USER_AGENT',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    redirectUris: [`${origin}/`],
    postLogoutRedirectUris: [`${origin}/`],
    // The API reads the roles in the token.
    accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
    accessTokenRoleAssertion: true,
  }),
}

/** Whether a client's secret is still good: whoever introspects proves who it is. */
async function isAccepted(issuer: string, clientId: string, secret: string): Promise<boolean> {
  const authorization = `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`)}`
  const body = new URLSearchParams({ token: 'none' })
  return (await fetch(`${issuer}/oauth/v2/introspect`, { method: 'POST', headers: { authorization }, body })).ok
}

function createCaller(issuer: string, token: string) {
  const known = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(issuer + path, {
      method,
      headers: { ...known, ...headers },
      body: JSON.stringify(body),
    })
    const read = (await answer.json()) as Record<string, unknown>
    // It is there already, or was changed meanwhile.
    if (answer.ok || [409, 412].includes(answer.status)) return answer.ok ? read : undefined
    throw new Error(`${path}: ${String(read['message'])}`)
  }
  return {
    call: (method: string, path: string, body: object) => send(method, path, body),
    /** Only while the object is as it was read. */
    callAt: (sequence: string, method: string, path: string, body: object) =>
      send(method, path, body, { 'if-match': `"${sequence}"` }),
  }
}
