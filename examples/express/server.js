// An Express application whose people sign in with Roster.
import express from 'express'
import oidc from 'express-openid-connect'

const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET, PORT = '3000' } = process.env
// Encrypts the session, which is a cookie.
const { SECRET = 'only for this machine' } = process.env
const origin = `http://localhost:${PORT}`

const app = express()
app.use(
  oidc.auth({
    issuerBaseURL: ISSUER,
    baseURL: origin,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: SECRET,
    authorizationParams: { response_type: 'code', scope: 'openid profile email offline_access' },
    authRequired: false,
    // /logout signs out at Roster, too, which sends the browser back to `/`.
    idpLogout: true,
    routes: { postLogoutRedirect: '/' },
  }),
)

app.get('/', (request, response) => {
  const { user } = request.oidc
  if (!user) return response.send('<h1>Shop</h1><a href="/login">Sign in with Roster</a>')
  const lines = [user.name, user.email, `Roles: ${user.roles?.join(', ') || 'none'}`].map(escape)
  return response.send(`<h1>Shop</h1><p>${lines.join('<br>')}</p><a href="/logout">Sign out</a>`)
})

app.get('/books', oidc.requiresAuth(), (request, response) => {
  const mayRead = request.oidc.user.roles?.includes('reader')
  if (!mayRead) return response.status(403).send('This needs the role reader.')
  return response.send('The Mythical Man-Month')
})

// Calls an API for the person, here Roster's own.
app.get('/profile', oidc.requiresAuth(), async (request, response) => {
  let token = request.oidc.accessToken
  if (token.expires_in <= 60) token = await token.refresh()
  const headers = { authorization: `Bearer ${token.access_token}` }
  const answer = await fetch(`${ISSUER}/oidc/v1/userinfo`, { headers })
  response.status(answer.status).json(await answer.json())
})

// Roster's word, such as `access_denied`: the person declined.
app.use((error, request, response, _next) => {
  const text = [error.error, error.error_description ?? error.message].filter(Boolean).join(': ')
  response.status(error.status ?? 500).send(`${escape(text)} <a href="/">Back</a>`)
})

app.listen(Number(PORT), 'localhost', () => console.log(`The shop is at ${origin}`))

const escape = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
