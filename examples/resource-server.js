// An API for which people need the role `reader` in its project. Its callers send access tokens of Roster.
import express from 'express'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER = 'http://localhost:8080', PROJECT_ID = '', PORT = '3001', ALLOWED_ORIGIN = '' } = process.env

const metadata = await (await fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json()
// Fetches the keys again, and caches them, as they rotate.
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri))

const app = express()

app.use((request, response, next) => {
  response.set({
    'Access-Control-Allow-Origin': ALLOWED_ORIGIN,
    'Access-Control-Allow-Headers': 'authorization',
    // Says what a token lacks.
    'Access-Control-Expose-Headers': 'www-authenticate',
  })
  if (request.method === 'OPTIONS') response.sendStatus(204)
  else next()
})

app.get('/books', needs('reader'), (request, response) => {
  response.json({ reader: request.token.sub, books: ['The Mythical Man-Month'] })
})

// An order wants two factors, the first of them within the last ten minutes.
app.post('/books', needs('reader'), needsFactors({ acr: 'urn:roster:acr:2', maxAge: 600 }), (request, response) => {
  response.status(201).json({ ordered: 'The Mythical Man-Month', acr: request.token.acr })
})

app.listen(Number(PORT), 'localhost', () => console.log(`The API is at http://localhost:${PORT}/books`))

function needs(role) {
  return async (request, response, next) => {
    const [, text = ''] = /^Bearer (\S+)$/i.exec(request.get('authorization') ?? '') ?? []
    try {
      // `aud` is what keeps tokens of other projects out.
      const options = { issuer: metadata.issuer, audience: PROJECT_ID, typ: 'at+jwt' }
      request.token = (await jwtVerify(text, keys, options)).payload
    } catch {
      return response.status(401).set('WWW-Authenticate', 'Bearer error="invalid_token"').end()
    }
    // `roles` has those that the owner of the project gave, or the person's own organization.
    if (!request.token.roles?.includes(role)) return response.status(403).json({ error: `needs the role ${role}` })
    return next()
  }
}

// The application authorizes again with what the answer names (RFC 9470). `phr` satisfies `urn:roster:acr:2`.
function needsFactors({ acr, maxAge }) {
  const levels = ['urn:roster:acr:1', 'urn:roster:acr:2', 'phr']
  return (request, response, next) => {
    const { acr: done, auth_time: at = 0 } = request.token
    if (levels.indexOf(done) >= levels.indexOf(acr) && Date.now() / 1000 - at <= maxAge) return next()
    const challenge = `Bearer error="insufficient_user_authentication", acr_values="${acr}", max_age="${maxAge}"`
    return response.status(401).set('WWW-Authenticate', challenge).end()
  }
}
