import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-openidconnect'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, listen, origin } from './environment.js'

const metadata = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json()
const options = {
  issuer: metadata.issuer,
  authorizationURL: metadata.authorization_endpoint,
  tokenURL: metadata.token_endpoint,
  userInfoURL: metadata.userinfo_endpoint,
  clientID: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  callbackURL: `${origin}/callback`,
  scope: ['profile'],
  nonce: true,
}
passport.use(new Strategy(options, (issuer, profile, done) => done(null, profile)))
passport.serializeUser((user, done) => done(null, user))
passport.deserializeUser((user, done) => done(null, user))

const app = express()
app.use(session({ secret: 'a secret of the relying party alone', resave: false, saveUninitialized: false }))
app.use(passport.session())
app.get('/callback', passport.authenticate('openidconnect', { successRedirect: '/', failWithError: true }))
app.get('/', (request, response, next) => {
  if (request.user) response.send(`Signed in as ${request.user.displayName}`)
  else passport.authenticate('openidconnect')(request, response, next)
})
listen(app)
