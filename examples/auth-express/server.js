// An Express application whose people sign in with Roster, by Auth.js.
import { Auth, skipCSRFCheck } from '@auth/core'
import { getToken } from '@auth/core/jwt'
import { ExpressAuth } from '@auth/express'
import express from 'express'
import { config as shared } from '../nextjs/auth.config.js'

const { ISSUER = 'http://localhost:8080', PORT = '3000', ORIGIN = `http://localhost:${PORT}` } = process.env
// Encrypts the session, which is a cookie.
const { AUTH_SECRET: secret = 'only for this machine' } = process.env
const config = { ...shared, secret, trustHost: true, basePath: '/auth' }

const app = express()
app.use('/auth', ExpressAuth(config))

app.get('/', async (request, response) => {
  const session = await readSession(request, response)
  if (!session) return response.send('<h1>Shop</h1><a href="/auth/signin">Sign in</a>')
  const { user, roles } = session
  const lines = [user.name, user.email, `Roles: ${roles.join(', ') || 'none'}`].map(escape)
  const signOut = '<form method="post" action="/sign-out"><button>Sign out</button></form>'
  return response.send(`<h1>Shop</h1><p>${lines.join('<br>')}</p>${signOut}`)
})

app.get('/books', async (request, response) => {
  const session = await readSession(request, response)
  if (!session) return response.redirect('/auth/signin')
  if (!session.roles.includes('reader')) return response.status(403).send('This needs the role reader.')
  return response.send('The Mythical Man-Month')
})

// Ends the session here, and sends the browser to Roster, which ends its own.
app.post('/sign-out', async (request, response) => {
  const token = await getToken({ req: request, secret, secureCookie: ORIGIN.startsWith('https:') })
  await callAuth('signout', 'POST', request, response)
  if (!token) return response.redirect('/')
  const parameters = { id_token_hint: token.idToken, post_logout_redirect_uri: `${ORIGIN}/` }
  return response.redirect(303, `${ISSUER}/oidc/v1/end_session?${new URLSearchParams(parameters)}`)
})

/**
 * Who is signed in. In place of `getSession` of @auth/express, which leaves out the cookie that a refresh writes: each
 * page would refresh again by the same token, until that is too old.
 */
async function readSession(request, response) {
  const session = await (await callAuth('session', 'GET', request, response)).json()
  return session && !session.error ? session : undefined
}

async function callAuth(action, method, request, response) {
  const headers = { cookie: request.headers.cookie ?? '' }
  const call = new Request(`${ORIGIN}/auth/${action}`, { method, headers })
  const answer = await Auth(call, { ...config, skipCSRFCheck })
  for (const cookie of answer.headers.getSetCookie()) response.append('Set-Cookie', cookie)
  return answer
}

const escape = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

app.listen(Number(PORT), 'localhost', () => console.log(`The shop is at ${ORIGIN}`))
