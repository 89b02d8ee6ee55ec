// oidc-client-ts in a popup, which closes itself.
import { UserManager } from 'oidc-client-ts'

const manager = new UserManager({
  authority: ISSUER,
  client_id: CLIENT_ID,
  redirect_uri: `${location.origin}/`,
  popup_redirect_uri: `${location.origin}/popup`,
  scope: 'openid profile',
})
const root = document.getElementById('root')
if (location.pathname === '/popup') await manager.signinPopupCallback()
else {
  const button = document.body.appendChild(document.createElement('button'))
  button.textContent = 'Sign in'
  button.addEventListener('click', async () => {
    const { profile } = await manager.signinPopup()
    root.textContent = `Signed in as ${profile.sub}`
  })
}
