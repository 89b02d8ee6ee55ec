import { redirect } from 'next/navigation'
import { auth, signIn, signOut } from '../auth.js'
import { readTokens } from '../tokens.js'

const { ISSUER = 'http://localhost:8080', AUTH_URL = 'http://localhost:3000' } = process.env

export default async function Page() {
  const session = await auth()
  if (!session || session.error)
    return (
      <form action={begin}>
        <button>Sign in with Roster</button>
      </form>
    )
  return (
    <form action={end}>
      <p>{session.user.name}</p>
      <p>{session.user.email}</p>
      <p>Roles: {session.roles.join(', ') || 'none'}</p>
      <button>Sign out</button>
    </form>
  )
}

async function begin() {
  'use server'
  await signIn('roster')
}

// Ends the session here, and sends the browser to Roster, which ends its own.
async function end() {
  'use server'
  const { idToken } = await readTokens()
  await signOut({ redirect: false })
  const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${AUTH_URL}/` }
  redirect(`${ISSUER}/oidc/v1/end_session?${new URLSearchParams(parameters)}`)
}
