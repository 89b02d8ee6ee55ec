// A page in the browser whose users sign in with Roster, and which calls an API for them. It has no server behind it.
const { oidc } = globalThis
const { issuer, clientId, api } = await (await fetch('/settings.json')).json()

const manager = new oidc.UserManager({
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${location.origin}/`,
  scope: 'openid profile email offline_access',
  // Refreshes the access token shortly before its end.
  automaticSilentRenew: true,
  userStore: new oidc.WebStorageStateStore({ store: sessionStorage }),
})

const parameters = new URLSearchParams(location.search)
if (parameters.has('state')) {
  await manager.signinCallback().catch((error) => show('answer', error.message))
  history.replaceState(null, '', '/')
}
draw(await manager.getUser())

on('sign-in', () => manager.signinRedirect())
on('books', async () => {
  const { access_token: token } = await manager.getUser()
  const answer = await fetch(api, { headers: { authorization: `Bearer ${token}` } })
  show('answer', answer.ok ? JSON.stringify(await answer.json(), null, 2) : `The API says ${answer.status}`)
})
on('order', async () => {
  const { access_token: token } = await manager.getUser()
  const answer = await fetch(api, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const challenge = answer.headers.get('www-authenticate') ?? ''
  // The API wants more factors, or later ones: Roster asks the person for them.
  if (challenge.includes('insufficient_user_authentication'))
    return manager.signinRedirect({ acr_values: named('acr_values', challenge), max_age: named('max_age', challenge) })
  return show('answer', answer.ok ? JSON.stringify(await answer.json(), null, 2) : `The API says ${answer.status}`)
})
on('sign-out', async () => {
  await manager.revokeTokens(['refresh_token'])
  await manager.removeUser()
  draw(null)
})

function draw(user) {
  show('who', user ? `Signed in as ${user.profile.name ?? user.profile.sub}` : 'Nobody is signed in')
  element('sign-in').hidden = user !== null
  for (const id of ['books', 'order', 'sign-out']) element(id).hidden = user === null
}

function on(id, act) {
  element(id).addEventListener('click', () => act().catch((error) => show('answer', error.message)))
}

function show(id, text) {
  element(id).textContent = text
}

function named(name, challenge) {
  return new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1]
}

function element(id) {
  return document.getElementById(id)
}
