import { createServer } from 'node:http'
import { Auth } from '@auth/core'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, listen, origin } from './environment.js'

const config = {
  secret: 'a secret of the relying party alone',
  trustHost: true,
  basePath: '/auth',
  providers: [
    {
      id: 'roster',
      name: 'Roster',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
}

const server = createServer(async (request, response) => {
  const chunks = await Array.fromAsync(request)
  const init = {
    method: request.method,
    headers: request.headers,
    body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
  }
  if (request.url === '/') {
    const session = await (
      await Auth(new Request(`${origin}/auth/session`, { headers: request.headers }), config)
    ).json()
    if (session) return response.end(`Signed in as ${session.user.name}`)
    return response.writeHead(302, { location: '/auth/signin' }).end()
  }
  const answer = await Auth(new Request(origin + request.url, init), config)
  for (const cookie of answer.headers.getSetCookie()) response.appendHeader('set-cookie', cookie)
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
  return response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
})
listen(server)
