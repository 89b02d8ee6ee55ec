/** A machine that asks for tokens. */
export interface TokenClient {
  id: string
  secret: string
}

/** Adds so many machines whose access tokens are JWTs, each with a secret. */
export async function addClients(
  { urls, token }: { urls: string[]; token: string },
  count: number,
): Promise<TokenClient[]> {
  async function post(path: string, body: object): Promise<Record<string, string>> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(urls[0] + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`a machine could not be added: ${await answer.text()}`)
    return (await answer.json()) as Record<string, string>
  }
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `bench-client-${index}`
      const machine = { userId: id, userName: id, name: 'A client', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
      await post('/management/v1/users/machine', machine)
      const { clientSecret } = await post(`/management/v1/users/${id}/secret`, {})
      return { id, secret: clientSecret! }
    }),
  )
}

/** The form of a request with a secret. */
export function tokenBySecret({ id, secret }: TokenClient): Record<string, string> {
  return { grant_type: 'client_credentials', client_id: id, client_secret: secret }
}
