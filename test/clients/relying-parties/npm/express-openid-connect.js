import express from 'express'
import openid from 'express-openid-connect'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, listen, origin } from './environment.js'

const app = express()
app.use(
  openid.auth({
    issuerBaseURL: ISSUER,
    baseURL: origin,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: 'a secret of the relying party alone',
    authorizationParams: { response_type: 'code', scope: 'openid profile email' },
    authRequired: true,
    idpLogout: true,
  }),
)
app.get('/', async (request, response) => {
  const { name } = await request.oidc.fetchUserInfo()
  response.send(`Signed in as ${name}`)
})
listen(app)
