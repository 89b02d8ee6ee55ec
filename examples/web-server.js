// A web server whose users sign in with Roster. Its own session remembers who they are.
import { randomBytes } from 'node:crypto'
import express from 'express'
import session from 'express-session'
import * as oidc from 'openid-client'

const { ISSUER = 'http://localhost:8080', CLIENT_ID = '', CLIENT_SECRET = '', PORT = '3000' } = process.env
const origin = `http://localhost:${PORT}`

// Without TLS only because this runs on your own machine.
const options = ISSUER.startsWith('http:') ? { execute: [oidc.allowInsecureRequests] } : {}
const proof = oidc.ClientSecretBasic(CLIENT_SECRET)
const roster = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, proof, options)

const app = express()
app.use(session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }))

app.get('/', (request, response) => {
  const { person } = request.session
  response.send(
    person
      ? `<h1>Hello, ${escape(person.name)}</h1><pre>${escape(JSON.stringify(person, null, 2))}</pre>
         <form method="post" action="/sign-out"><button>Sign out</button></form>`
      : '<h1>Example</h1><a href="/sign-in">Sign in with Roster</a>',
  )
})

app.get('/sign-in', async (request, response) => {
  const [verifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
  request.session.begun = { verifier, state }
  const parameters = {
    redirect_uri: `${origin}/callback`,
    scope: 'openid profile email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  }
  response.redirect(oidc.buildAuthorizationUrl(roster, parameters).href)
})

app.get('/callback', async (request, response) => {
  const { verifier, state } = request.session.begun ?? {}
  // Checks state, issuer and ID token. Throws where the person declined.
  const checks = { pkceCodeVerifier: verifier, expectedState: state }
  const tokens = await oidc.authorizationCodeGrant(roster, new URL(request.originalUrl, origin), checks)
  const person = await oidc.fetchUserInfo(roster, tokens.access_token, tokens.claims().sub)
  // A new session: whoever knew the one from before the sign-in knows nothing now.
  request.session.regenerate(() => {
    request.session.person = person
    response.redirect('/')
  })
})

app.post('/sign-out', (request, response) => request.session.destroy(() => response.redirect('/')))

app.listen(Number(PORT), 'localhost', () => console.log(`The example is at ${origin}`))

const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
