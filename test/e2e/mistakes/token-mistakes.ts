import postgres from 'postgres'
import { inject } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { basic, issuer, tokenPath } from '../../examples/oauth.ts'
import { newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  newCode,
  newWebApplication,
  openBrowser,
  redeem,
  redirectUri,
  refresh,
  verifier,
} from '../../examples/sign-in.ts'
import { watchRequest } from './log-line.ts'
import { type MistakesTable, named } from './table.ts'

/** One application, and what a person lets it have. */
interface Sender {
  application: ExampleApplication
  other: ExampleApplication
  code(of?: ExampleApplication, more?: Record<string, string>): Promise<string>
  refreshToken(of?: ExampleApplication): Promise<string>
}

/** A request. Without `authorization` the application proves who it is as it should. */
interface Sent {
  form: Record<string, string>
  authorization?: string
  method?: string
  /** In place of the form. */
  json?: object
  query?: string
  dpop?: string
}

type Make = (sender: Sender) => Promise<Sent>
const byCode =
  (form: Record<string, string>, more: Omit<Sent, 'form'> = {}): Make =>
  async ({ code }) => ({ form: await codeForm(code(), form), ...more })
const byRefreshToken =
  (form: Record<string, string>): Make =>
  async ({ refreshToken }) => ({ form: { ...refreshForm(await refreshToken()), ...form } })

async function codeForm(code: string | Promise<string>, more: Record<string, string> = {}) {
  const usual = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier }
  return { ...usual, code: await code, ...more }
}

const refreshForm = (text: string) => ({ grant_type: 'refresh_token', refresh_token: text })

const both: Record<string, Make> = {
  'no `grant_type`': byCode({ grant_type: '' }),
  '`grant_type=password`': byCode({ grant_type: 'password' }),
  '`grant_type=client_credentials`': byCode({ grant_type: 'client_credentials' }),
  'no `code`': byCode({ code: '' }),
  'a `code` that never was': byCode({ code: 'magic' }),
  'a `code` of another application': async ({ code, other }) => ({ form: await codeForm(code(other)) }),
  'a `code` for the second time': async ({ application, code }) => {
    const text = await code()
    await redeem(application, text)
    return { form: await codeForm(text) }
  },
  'a `code` after 60 seconds': async ({ application, code }) => {
    // One that is stored, for it would be too long.
    const text = await code(application, { nonce: 'n'.repeat(1024) })
    await change(application, (sql) => sql`created_at = created_at - interval '61 seconds'`)
    return { form: await codeForm(text) }
  },
  'no `redirect_uri`': byCode({ redirect_uri: '' }),
  'another `redirect_uri`': byCode({ redirect_uri: `${redirectUri}/` }),
  'no `code_verifier`': byCode({ code_verifier: '' }),
  'a `code_verifier` that is too short': byCode({ code_verifier: 'short' }),
  'another `code_verifier`': byCode({ code_verifier: verifier.toUpperCase() }),
  'no `refresh_token`': byRefreshToken({ refresh_token: '' }),
  'a `refresh_token` that never was': byRefreshToken({ refresh_token: 'magic' }),
  'a `refresh_token` of another application': async ({ refreshToken, other }) => ({
    form: refreshForm(await refreshToken(other)),
  }),
  'a `refresh_token` that was not used for too long': async ({ application, refreshToken }) => {
    const text = await refreshToken()
    await change(application, (sql) => sql`state = jsonb_set(state, '{refreshTokens,expiresAt}', ${past(sql)})`)
    return { form: refreshForm(text) }
  },
  'a `refresh_token` after its successor was used': async ({ application, refreshToken }) => {
    const text = await refreshToken()
    await refresh(application, (await refresh(application, text)).body.refresh_token)
    await change(application, (sql) => sql`state = jsonb_set(state, '{refreshTokens,used,0,at}', ${past(sql)})`)
    return { form: refreshForm(text) }
  },
  'a `scope` at a refresh that was not given': byRefreshToken({ scope: 'magic' }),
  '`resource`': byCode({ resource: 'https://api.example.com' }),
  'a `DPoP` header that is no proof': byCode({}, { dpop: 'magic' }),
  'the parameters in the address': byCode({}, { query: '?grant_type=authorization_code' }),
  'JSON in place of a form': byCode({}, { json: { grant_type: 'authorization_code' } }),
  'GET in place of POST': byCode({}, { method: 'GET' }),
}

const ofSecret: Record<string, Make> = {
  'a `code_verifier` for a code without `code_challenge`': async ({ code, application }) => ({
    form: await codeForm(code(application, { code_challenge: '', code_challenge_method: '' })),
  }),
  'neither a secret nor `client_id`': byCode({}, { authorization: '' }),
  'a `client_id` that is unknown': byCode({}, basic('00000000-0000-7000-8000-000000000000', 'secret')),
  'a wrong secret': async ({ application, code }) => ({
    form: await codeForm(code()),
    ...basic(application.clientId, 'wrong'),
  }),
  'a wrong secret in the form': async ({ application: { clientId }, code }) => ({
    form: await codeForm(code(), { client_id: clientId, client_secret: 'wrong' }),
    authorization: '',
  }),
  'the secret in the header and in the form': async ({ application: { clientId, clientSecret }, code }) => ({
    form: await codeForm(code(), { client_id: clientId, client_secret: clientSecret }),
  }),
}

const ofPublic: Record<string, Make> = {
  'a secret, though it is public': byCode({ client_secret: 'magic' }),
}

/** Sends each to Roster, as an application with a secret and as a public one. */
export async function openTokenMistakes(): Promise<MistakesTable> {
  const home = await newOrganization()
  const [project, person] = [await newProject(home), await newHuman(home, { password: unique('Password') })]
  const browser = openBrowser()
  const senderOf = async (more: object): Promise<Sender> => {
    const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
    const add = () => newWebApplication(home, project, { grantTypes, ...more })
    const [application, other] = [await add(), await add()]
    const code: Sender['code'] = (of = application, parameters = {}) => newCode(person, of, parameters, browser)
    const refreshToken: Sender['refreshToken'] = async (of = application) =>
      (await redeem(of, await code(of, { scope: 'openid offline_access' }))).body.refresh_token
    return { application, other, code, refreshToken }
  }
  const withSecret = await senderOf({ allowMissingPkce: true })
  const without = await senderOf({ authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE', appType: 'OIDC_APP_TYPE_USER_AGENT' })
  return {
    columns: ['An application with a secret gets', 'A public one gets', 'The log says'],
    mistakes: [both, ofSecret, ofPublic].flatMap(Object.keys),
    async tell(mistake) {
      const bySecret = both[mistake] ?? ofSecret[mistake]
      const byPublic = both[mistake] ?? ofPublic[mistake]
      const first = bySecret && (await tellOf(withSecret, bySecret))
      const second = byPublic && (await tellOf(without, byPublic))
      return [first?.got ?? '', second?.got ?? '', (first ?? second)!.logged]
    },
  }
}

async function tellOf(sender: Sender, make: Make) {
  const { form, authorization, method = 'POST', json, query = '', dpop } = await make(sender)
  const { clientId, clientSecret, appId } = sender.application
  const proof = clientSecret === '' ? {} : basic(clientId, clientSecret)
  const id = clientSecret === '' ? { client_id: clientId } : {}
  const pairs = Object.entries({ ...id, ...form }).filter(([, value]) => value !== '')
  const { headers, requestId, ended } = watchRequest()
  const answer = await fetch(issuer() + tokenPath + query, {
    method,
    headers: {
      ...(authorization === undefined ? proof : authorization && { authorization }),
      ...(dpop !== undefined && { dpop }),
      'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded',
      ...headers,
    },
    ...(method === 'POST' && { body: json ? JSON.stringify(json) : new URLSearchParams(pairs).toString() }),
  })
  const { error, error_description, message } = (await answer.json()) as Record<string, string>
  // What is no call of an operation has no line.
  const lines = method === 'POST' ? await ended() : []
  const said = lines.filter(({ msg }) => msg !== 'call')
  const names = { CLIENT: clientId, APPLICATION: appId, ID: requestId }
  return {
    got: named(`${answer.status} ${error ? `\`${error}\`: ${error_description}` : message}`, names),
    logged: named((said.length > 0 ? said : lines).map(lineOf).join('; '), names),
  }
}

function lineOf({ msg, ...line }: Record<string, unknown>): string {
  const told = ['clientId', 'grantType', 'method', 'reason', 'why', 'fields']
  // The method of a call is the operation.
  const shown = Object.entries(line).filter(([name]) => told.includes(name) && !(msg === 'call' && name === 'method'))
  return `${String(msg)}: ${JSON.stringify(Object.fromEntries(shown))}`
}

type Sql = postgres.Sql

const past = (sql: Sql) => sql`to_jsonb('2020-01-01T00:00:00.000Z'::text)`

/** Makes what an application has from people older than it is. */
async function change({ appId }: ExampleApplication, by: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>) {
  const sql = postgres(inject('roster').house!.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`
    update roster_users.aggregates set ${by(sql)} where type = 'authorization' and state ->> 'applicationId' = ${appId}
  `
  await sql.end()
}
