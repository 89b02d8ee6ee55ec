import { createElement, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { AuthProvider, useAuth } from 'react-oidc-context'

const settings = {
  authority: ISSUER,
  client_id: CLIENT_ID,
  redirect_uri: `${location.origin}/`,
  scope: 'openid profile',
  onSigninCallback: () => history.replaceState(null, '', '/'),
}

function Page() {
  const auth = useAuth()
  useEffect(() => {
    if (!auth.isLoading && !auth.isAuthenticated && !auth.error && !auth.activeNavigator) void auth.signinRedirect()
  }, [auth])
  if (auth.error) return auth.error.message
  return auth.isAuthenticated ? `Signed in as ${auth.user.profile.sub}` : 'Nobody'
}

createRoot(document.getElementById('root')).render(createElement(AuthProvider, settings, createElement(Page)))
