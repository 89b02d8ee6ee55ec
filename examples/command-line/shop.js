// A program in a terminal whose people sign in with Roster, in their browser.
import { createServer } from 'node:http'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as oidc from 'openid-client'

const { ISSUER = 'http://localhost:8080', CLIENT_ID = '', SHOP_FILE = join(homedir(), '.shop.json') } = process.env

const options = ISSUER.startsWith('http:') ? { execute: [oidc.allowInsecureRequests] } : {}
const roster = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.None(), options)

const commands = { 'sign-in': signIn, whoami, 'sign-out': signOut }
const command = commands[process.argv[2]] ?? (async () => console.log(`shop.js ${Object.keys(commands).join(' | ')}`))
await command().catch((error) => {
  console.error(error.error_description ?? error.message)
  process.exitCode = 1
})

async function signIn() {
  // Any free port: the port of a loopback address is not compared.
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const redirectUri = `http://127.0.0.1:${server.address().port}/callback`
  const [verifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
  const address = oidc.buildAuthorizationUrl(roster, {
    redirect_uri: redirectUri,
    scope: 'openid profile email offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  })
  console.log(`Open this address in your browser:\n${address.href}`)
  const answer = await comeBack(server, redirectUri)
  const tokens = await oidc.authorizationCodeGrant(roster, answer, { pkceCodeVerifier: verifier, expectedState: state })
  const { person } = await keep(tokens)
  console.log(`Signed in as ${person.name}`)
}

async function comeBack(server, redirectUri) {
  const url = await new Promise((resolve) => {
    server.on('request', (request, response) => {
      const at = new URL(request.url, redirectUri)
      if (at.pathname !== '/callback') return response.writeHead(404).end()
      response.end('Go back to the terminal.', () => resolve(at))
    })
  })
  server.close()
  server.closeAllConnections()
  return url
}

async function whoami() {
  const { accessToken, person } = await current()
  const { name, email } = await oidc.fetchUserInfo(roster, accessToken, person.sub)
  console.log(`${name}, ${email}, roles: ${person.roles?.join(', ') || 'none'}`)
}

/** Who is signed in, and a token for calls of APIs: refreshed when less than a minute is left. */
async function current() {
  const kept = JSON.parse(await readFile(SHOP_FILE, 'utf8').catch(() => '{}'))
  if (!kept.refreshToken) throw new Error('You are not signed in: shop.js sign-in')
  if (Date.now() < kept.until - 60_000) return kept
  return keep(await oidc.refreshTokenGrant(roster, kept.refreshToken))
}

async function keep(tokens) {
  const kept = {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    until: Date.now() + tokens.expires_in * 1000,
    person: tokens.claims(),
  }
  await writeFile(SHOP_FILE, JSON.stringify(kept), { mode: 0o600 })
  return kept
}

async function signOut() {
  const { refreshToken } = JSON.parse(await readFile(SHOP_FILE, 'utf8').catch(() => '{}'))
  if (refreshToken) await oidc.tokenRevocation(roster, refreshToken)
  await rm(SHOP_FILE, { force: true })
  console.log('Signed out.')
}
