// As https://next-auth.js.org/configuration/providers/oauth shows a provider of one's own. In place of Next.js, Express
// calls its handler.
import express from 'express'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { default: NextAuth } = require('next-auth/next')
const { getToken } = require('next-auth/jwt')

const { ISSUER, CLIENT_ID, CLIENT_SECRET, SCOPE, PORT } = process.env
process.env.NEXTAUTH_URL = `http://localhost:${PORT}`
const secret = 'a secret of the application alone'
const options = {
  secret,
  providers: [
    {
      id: 'roster',
      name: 'Roster',
      type: 'oauth',
      wellKnown: `${ISSUER}/.well-known/openid-configuration`,
      authorization: { params: { scope: SCOPE } },
      idToken: true,
      checks: ['pkce', 'state'],
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      profile: ({ sub, name, email, roles }) => ({ id: sub, name, email, roles }),
    },
  ],
  callbacks: { jwt: ({ token, user }) => (user ? { ...token, roles: user.roles } : token) },
}

const app = express()
app.use(express.urlencoded({ extended: false }))
app.use((request, response, next) => {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair) => pair.split(/=(.*)/s))
  request.cookies = Object.fromEntries(pairs.map(([name, value = '']) => [name, decodeURIComponent(value)]))
  next()
})
app.all('/api/auth/*path', (request, response) => {
  const query = { ...request.query, nextauth: request.params.path }
  Object.defineProperty(request, 'query', { value: query })
  return NextAuth(request, response, options)
})
app.get('/', async (request, response) => {
  const token = await getToken({ req: request, secret })
  if (token) response.send(`Signed in as ${token.name}, ${token.roles}`)
  else response.redirect('/api/auth/signin')
})
app.listen(Number(PORT), 'localhost')
