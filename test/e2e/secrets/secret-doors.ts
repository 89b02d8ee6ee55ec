import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { ExampleApplication } from '../../examples/applications.ts'
import {
  assertionType,
  basic,
  clientCredentials,
  type ExampleClient,
  issuer,
  jwtBearer,
  newClient,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { admin, type ExampleHuman, unique } from '../../examples/people.ts'
import { authorizePath, formOf, newCode, openBrowser, redirectUri, verifier } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

/** Whom and what the secrets belong to. */
interface World {
  home: string
  person: ExampleHuman
  /** With an email code that is not used, and with a code for another password. */
  addressed: ExampleHuman
  forgetful: ExampleHuman
  /** Whose session waits for a code. */
  careful: { sessionId: string; sessionToken: string }
  web: ExampleApplication
  /** Its access tokens are JWTs. */
  signing: ExampleApplication
  /** Public, with tokens for a key. */
  bound: ExampleApplication
  key: ProofKey
  machine: ExampleClient
}

interface Answer {
  /** In short. */
  said: string
  /** All of it. */
  text: string
}

export type Door = keyof Awaited<ReturnType<typeof doorsOf>>

/** The places that take a secret. All else that they are shown is right. */
export async function openDoors(world: World) {
  const page = await openPage(world.web)
  const doors = await doorsOf(world, page)
  const all = Object.keys(doors) as Door[]
  /**
   * Shows a secret to one. `turn` spreads failures over clients, since few of each are answered: at 0 and 2 stand those of
   * the secrets themselves, the second with its key.
   */
  const show = (door: Door, secret: string, turn: number): Promise<Answer> => doors[door](secret, turn)
  return { all, show, formToken: page.fields['form_token']!, post }
}

/** The handle of a request that comes by POST. */
async function post(path: string): Promise<string> {
  const [target, body] = path.split('?') as [string, string]
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(issuer() + target, { method: 'POST', body, headers, redirect: 'manual' })
  return new URL(answer.headers.get('location')!, issuer()).searchParams.get('posted_request')!
}

async function openPage(application: ExampleApplication) {
  const browser = openBrowser()
  const shown = await browser.visit(authorizePath(application))
  return { browser, shown, ...formOf(shown.body)! }
}

async function doorsOf(
  { home, person, addressed, forgetful, careful, web, signing, bound, key, machine }: World,
  { browser, shown }: Awaited<ReturnType<typeof openPage>>,
) {
  const machines = await Promise.all(Array.from({ length: 8 }, () => newClient({ organization: home })))
  const [ofWeb, ofSigning] = [web, signing].map(({ clientId, clientSecret }) => basic(clientId, clientSecret))
  const byApplication = [
    (form: Record<string, string>) => oauth(form, ofWeb),
    (form: Record<string, string>) => oauth(form, ofSigning),
    async (form: Record<string, string>) => oauth({ ...form, client_id: bound.clientId }, await key.proof(tokenPath)),
  ]
  const grantOfCode = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier }
  const signedIn = openBrowser()
  await newCode(person, web, {}, signedIn)
  return {
    code: (code: string, turn: number) => byApplication[turn % 3]!({ ...grantOfCode, code }),
    refresh: (text: string, turn: number) =>
      byApplication[turn % 3]!({ grant_type: 'refresh_token', refresh_token: text }),
    'grant of a machine': (text: string, turn: number) =>
      oauth({ grant_type: jwtBearer, assertion: text, client_id: machines[turn % 8]!.userId }),
    'client secret': (text: string, turn: number) =>
      oauth({ grant_type: clientCredentials }, basic(turn === 0 ? machine.userId : machines[turn % 8]!.userId, text)),
    'client assertion': (text: string, turn: number) =>
      oauth({
        grant_type: clientCredentials,
        client_id: machines[turn % 8]!.userId,
        client_assertion_type: assertionType,
        client_assertion: text,
      }),
    introspection: (token: string) => oauth({ token }, ofWeb, '/oauth/v2/introspect'),
    revocation: (token: string) => oauth({ token }, ofWeb, '/oauth/v2/revoke'),
    userinfo: (token: string) => userinfo({ authorization: `Bearer ${token}` }),
    'userinfo by its key': async (token: string) =>
      userinfo({ authorization: `DPoP ${token}`, ...(await key.proof('/oidc/v1/userinfo', 'GET', token)) }),
    API: (token: string) => api('GetMyUser', {}, { token }),
    cookie: (value: string) => silently({}, openBrowser(issuer(), `roster-browser=${value}`).visit),
    hint: (id_token_hint: string) => silently({ id_token_hint }, signedIn.visit),
    form: async (form_token: string) => shortly(await browser.submit(shown, { action: 'cancel', form_token })),
    'posted request': async (handle: string) => {
      const address = `/oauth/v2/authorize?${String(new URLSearchParams({ posted_request: handle }))}`
      return shortly(await openBrowser().visit(address))
    },
    'email code': (verificationCode: string) => api('VerifyEmail', { userId: addressed.userId, verificationCode }),
    'reset code': (verificationCode: string) =>
      api('ResetPassword', { userId: forgetful.userId, verificationCode, newPassword: unique('Password') }),
    'second factor': (otpEmailCode: string) => api('SetSession', { ...careful, otpEmailCode }, admin(home)),
  }

  async function oauth(form: Record<string, string>, headers = {}, path = tokenPath): Promise<Answer> {
    const { status, body } = await sendForm(path, form, { headers })
    const said = [status, body.error, body.active && 'active'].filter(Boolean).join(' ')
    return { said, text: JSON.stringify(body) }
  }
  async function userinfo(headers: Record<string, string>): Promise<Answer> {
    const answer = await fetch(`${issuer()}/oidc/v1/userinfo`, { headers })
    const text = (await answer.text()) + String(answer.headers.get('www-authenticate'))
    return { said: answer.ok ? '200' : String(answer.status), text }
  }
  async function api(...[operation, request, options]: Parameters<typeof call>): Promise<Answer> {
    const answer = await call(operation, request, options)
    return { said: factsOf(answer).reason ?? 'ok', text: JSON.stringify(answer) }
  }
  async function silently(more: Record<string, string>, visit: typeof signedIn.visit): Promise<Answer> {
    const { location } = await visit(authorizePath(web, { scope: 'openid', prompt: 'none', ...more }))
    return { said: new URL(location).searchParams.get('error') ?? 'code', text: location }
  }
}

function shortly({ status, body }: { status: number; body: string }): Answer {
  return { said: `${status} ${/<h1[^>]*>([^<]*)</.exec(body)?.[1]}`, text: body }
}

export type ProofKey = Awaited<ReturnType<typeof newProofKey>>

/** A key that tokens are bound to, and the header that proves it. */
export async function newProofKey() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    async proof(path: string, htm = 'POST', token?: string) {
      const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }
      const dpop = await new SignJWT({ htm, htu: issuer() + path, jti: randomUUID(), ...ath })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .setIssuedAt()
        .sign(privateKey)
      return { dpop }
    },
  }
}
