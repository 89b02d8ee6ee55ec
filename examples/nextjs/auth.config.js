const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET } = process.env

/** What Auth.js is told of Roster, in Next.js and in Express. */
export const config = {
  providers: [
    {
      id: 'roster',
      name: 'Roster',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: 'openid profile email offline_access' } },
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
  callbacks: {
    // The cookie, which Auth.js encrypts: at the sign-in, and each time that it is read.
    async jwt({ token, account, profile }) {
      if (account) return keep(token, account, profile.roles)
      if (Date.now() / 1000 < token.expiresAt - 60) return token
      return refresh(token)
    },
    // What pages see, also scripts in the browser, at /api/auth/session: so no tokens.
    session({ session, token }) {
      return { ...session, roles: token.roles, error: token.error }
    },
  },
}

function keep(token, { access_token, refresh_token, id_token, expires_at }, roles = []) {
  return {
    ...token,
    accessToken: access_token,
    refreshToken: refresh_token,
    idToken: id_token,
    expiresAt: expires_at,
    roles,
  }
}

async function refresh(token) {
  const authorization = `Basic ${btoa(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`)}`
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token.refreshToken })
  const answer = await fetch(`${ISSUER}/oauth/v2/token`, { method: 'POST', headers: { authorization }, body })
  // Signed out everywhere, or shut out: the person signs in again.
  if (!answer.ok) return { ...token, error: 'RefreshFailed' }
  const given = await answer.json()
  const { roles } = JSON.parse(Buffer.from(given.id_token.split('.')[1], 'base64url'))
  return keep(token, { ...given, expires_at: Date.now() / 1000 + given.expires_in }, roles)
}
