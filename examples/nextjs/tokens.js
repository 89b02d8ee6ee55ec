import { headers } from 'next/headers'
import { getToken } from 'next-auth/jwt'

const { AUTH_SECRET: secret, AUTH_URL = 'http://localhost:3000' } = process.env

/** The tokens in the cookie: `accessToken` for APIs, `idToken` for the sign-out. Only the server reads them. */
export async function readTokens() {
  return getToken({ req: { headers: await headers() }, secret, secureCookie: AUTH_URL.startsWith('https:') })
}
