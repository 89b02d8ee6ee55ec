import { expect } from 'vitest'
import { newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  callbackOf,
  newWebApplication,
  openBrowser,
  readText,
  redirectUri,
} from '../../examples/sign-in.ts'
import { watchRequest } from './log-line.ts'
import { type MistakesTable, named } from './table.ts'

/** What is sent in place of what is right. An empty parameter is not sent. Pairs are added. */
type Sent = Record<string, string> | [string, string][]

const noChallenge = { code_challenge: '', code_challenge_method: '' }
const organization = 'urn:zitadel:iam:org:id'

const mistakes: Record<string, Sent> = {
  'no `client_id`': { client_id: '' },
  'a `client_id` that no application has': { client_id: 'nobody' },
  'no `redirect_uri`': { redirect_uri: '' },
  'a `redirect_uri` with a slash too many': { redirect_uri: `${redirectUri}/` },
  'a `redirect_uri` on another host': { redirect_uri: 'https://other.example.com/callback' },
  'no `response_type`': { response_type: '' },
  '`response_type=token`': { response_type: 'token' },
  '`response_mode=jwt`': { response_mode: 'jwt' },
  '`scope` twice': [['scope', 'openid']],
  'a parameter twice that Roster does not know': [
    ['audience', 'a'],
    ['audience', 'b'],
  ],
  'neither `code_challenge` nor `nonce`': noChallenge,
  'a `nonce` in place of `code_challenge`, without the scope `openid`': {
    ...noChallenge,
    nonce: 'n',
    scope: 'profile',
  },
  'no `code_challenge`, by an application without a secret': { ...noChallenge, nonce: 'n', client_id: 'PUBLIC' },
  '`code_challenge_method=plain`': { code_challenge_method: 'plain' },
  'no `code_challenge_method`': { code_challenge_method: '' },
  '`code_challenge_method` alone': { code_challenge: '' },
  'a `code_challenge` that is no SHA-256': { code_challenge: 'verifier' },
  '`prompt=foo`': { prompt: 'foo' },
  '`prompt=none login`': { prompt: 'none login' },
  '`max_age=1h`': { max_age: '1h' },
  'a `nonce` of 1,025 characters': { nonce: 'n'.repeat(1025) },
  '`claims` that are no JSON': { claims: 'email' },
  '`claims` with an essential `acr` of others': {
    claims: '{"id_token":{"acr":{"essential":true,"value":"urn:other"}}}',
  },
  'scopes with commas': { scope: 'openid,profile' },
  'no scope that is known': { scope: 'read:orders' },
  'the scope of another project': { scope: 'openid urn:zitadel:iam:org:project:id:another:aud' },
  'the scope for Roster itself': { scope: 'openid urn:zitadel:iam:org:project:id:zitadel:aud' },
  'scopes of two organizations': { scope: `openid ${organization}:1 ${organization}:2` },
  '`request`': { request: 'eyJhbGciOiJub25lIn0.e30.' },
  '`request_uri`': { request_uri: 'https://app.example.com/request' },
  '`resource`': { resource: 'https://api.example.com' },
  'an `id_token_hint` that is no ID token of the application, with `prompt=none`': {
    id_token_hint: 'none',
    prompt: 'none',
  },
}

/** Sends each to Roster: by a browser in which a person is signed in, and by another one. */
export async function openAuthorizeMistakes(): Promise<MistakesTable> {
  const home = await newOrganization()
  const [project, person] = [await newProject(home), await newHuman(home, { password: unique('Password') })]
  const name = unique('Shop')
  const [application, page] = await Promise.all([
    newWebApplication(home, project, { name }),
    newWebApplication(home, project, {
      name,
      appType: 'OIDC_APP_TYPE_USER_AGENT',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    }),
  ])
  const signedIn = openBrowser()
  await callbackOf(person, authorizePath(application), signedIn)
  const names = { SHOP: name, CLIENT: application.clientId, PUBLIC: page.clientId }
  const pathOf = (sent: Sent) => {
    if (Array.isArray(sent)) return `${authorizePath(application)}&${String(new URLSearchParams(sent))}`
    return authorizePath(application, sent['client_id'] === 'PUBLIC' ? { ...sent, client_id: page.clientId } : sent)
  }
  return {
    columns: ['The page says', 'The application gets', 'The log says'],
    mistakes: Object.keys(mistakes),
    async tell(mistake) {
      const path = pathOf(mistakes[mistake]!)
      const { headers, requestId, logged } = watchRequest()
      const shown = await openBrowser().visit(path, { headers })
      // Where no page is wanted, the person sees none.
      if (shown.location === '') expect(readText(shown.body)).toContain(requestId)
      const { location } = await signedIn.visit(path)
      return [factsIn(shown.body), answerIn(location), (await logged()).map(lineOf).join('; ')].map((text) =>
        named(text, names),
      )
    },
  }
}

/** What a page says for developers, but for the request id; and whether it leads back to the application. */
export function factsIn(body: string): string {
  const facts = [...body.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)].map(([, name, text]) => {
    const code = text!.replaceAll(/<\/?code>/g, '`').replaceAll(/<[^>]*>/g, '')
    return name === 'Request ID' ? '' : `${name === 'What is wrong' ? '' : `${name!}: `}${readText(code)}`
  })
  const [, title] = /<h1>(.*?)<\/h1>/s.exec(body) ?? []
  const back = body.includes('<a id="back"') ? '(and leads back)' : ''
  const said = title === 'The application sent a request that we cannot answer' ? undefined : title
  return [said && `**${said.trim().replace(/[^?]$/, '$&.')}**`, facts.filter(Boolean).join('; '), back]
    .filter(Boolean)
    .join(' ')
}

function answerIn(location: string): string {
  if (location === '') return 'nothing'
  const { searchParams } = new URL(location)
  return `\`${searchParams.get('error')}\`: ${searchParams.get('error_description')}`
}

function lineOf({ level, msg, parameter, reason, refusedAt, clientId, ...rest }: Record<string, unknown>): string {
  expect({ level, msg, clientId }).toEqual({
    level: 30,
    msg: 'an authorization request was refused',
    clientId: expect.any(String),
  })
  expect(['time', 'service', 'requestId', 'error']).toEqual(expect.arrayContaining(Object.keys(rest)))
  expect(reason).toMatch(new RegExp(`^${String(parameter)} `))
  return `\`refusedAt\` ${String(refusedAt)}, \`reason\` ${String(reason)}`
}
