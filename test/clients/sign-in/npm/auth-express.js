// As https://authjs.dev/reference/express shows it (at Express 5, below a path without a star), with the role as in its guide to role based access.
import { ExpressAuth, getSession } from '@auth/express'
import express from 'express'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, SCOPE, PORT } = process.env
const config = {
  trustHost: true,
  secret: 'a secret of the application alone',
  providers: [
    {
      id: 'roster',
      name: 'Roster',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: SCOPE } },
      profile: ({ sub, name, email, roles }) => ({ id: sub, name, email, roles }),
    },
  ],
  callbacks: {
    jwt: ({ token, user }) => (user ? { ...token, roles: user.roles } : token),
    session: ({ session, token }) => ({ ...session, user: { ...session.user, roles: token.roles } }),
  },
}

const app = express()
app.set('trust proxy', true)
app.use('/auth', ExpressAuth(config))
app.get('/', async (request, response) => {
  const session = await getSession(request, config)
  if (session) response.send(`Signed in as ${session.user.name}, ${session.user.roles}`)
  else response.redirect('/auth/signin')
})
app.listen(Number(PORT), 'localhost')
