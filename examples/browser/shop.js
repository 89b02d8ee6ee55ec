// A page whose people sign in with Roster. No server of its own has part in it.
import { UserManager } from 'oidc-client-ts'
import { settings } from './settings.js'

const manager = new UserManager({
  authority: settings.issuer,
  client_id: settings.clientId,
  redirect_uri: `${location.origin}/`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email offline_access',
  // Refreshes the access token shortly before its end.
  automaticSilentRenew: true,
})

// Back from Roster, with a code or an error.
const answer = new URLSearchParams(location.search)
if (answer.has('state') && (answer.has('code') || answer.has('error')))
  await manager.signinRedirectCallback().catch((error) => show('answer', error.message))
history.replaceState(null, '', '/')
draw(await manager.getUser())

// After a refresh the roles may be others. Where it fails for good, the person signs in again.
manager.events.addUserLoaded(draw)
manager.events.addSilentRenewError((error) => error.error && manager.removeUser().then(() => draw(null)))

on('sign-in', () => manager.signinRedirect())
on('refresh', () => manager.signinSilent())
on('sign-out', () => manager.signoutRedirect())
on('profile', async () => {
  const { access_token: token } = await manager.getUser()
  const headers = { authorization: `Bearer ${token}` }
  show('answer', await (await fetch(`${settings.issuer}/oidc/v1/userinfo`, { headers })).text())
})

function draw(user) {
  const { name, email, roles = [] } = user?.profile ?? {}
  show('who', user ? `${name}, ${email}, roles: ${roles.join(', ') || 'none'}` : 'Nobody is signed in.')
  document.getElementById('sign-in').hidden = Boolean(user)
  for (const id of ['refresh', 'profile', 'sign-out']) document.getElementById(id).hidden = !user
}

function on(id, act) {
  const run = () => act().catch((error) => show('answer', error.message))
  document.getElementById(id).addEventListener('click', run)
}

function show(id, text) {
  document.getElementById(id).textContent = text
}
