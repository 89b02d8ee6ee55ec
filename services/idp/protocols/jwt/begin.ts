import type { Begun, Upstream } from '../protocol.ts'

/** Sends the browser to where the person signs in. It comes back with `state`, and with the token in the header of the record. */
export async function begin({ configuration, redirectUri }: Upstream<'jwt'>, { state }: Begun): Promise<URL> {
  const to = new URL(configuration.jwtEndpoint)
  to.searchParams.set('state', state)
  to.searchParams.set('redirect_uri', redirectUri)
  return to
}
