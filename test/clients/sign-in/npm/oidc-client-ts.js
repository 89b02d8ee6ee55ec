// As https://authts.github.io/oidc-client-ts shows it, in a page.
import { readFile } from 'node:fs/promises'
import express from 'express'

const { ISSUER, CLIENT_ID, SCOPE, PORT } = process.env
const settings = {
  authority: ISSUER,
  client_id: CLIENT_ID,
  redirect_uri: `http://localhost:${PORT}/callback`,
  scope: SCOPE,
}
const library = await readFile(
  new URL('node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
)
const page = `<!doctype html><title>Page</title><p></p><script src="/library.js"></script><script type="module">
const manager = new oidc.UserManager(${JSON.stringify(settings)})
if (location.pathname === '/callback') {
  const { profile } = await manager.signinCallback()
  document.querySelector('p').textContent = 'Signed in as ' + profile.name + ', ' + profile.roles
} else await manager.signinRedirect()
</script>`

const app = express()
app.get('/library.js', (request, response) => response.type('text/javascript').send(library))
app.get(['/', '/callback'], (request, response) => response.send(page))
app.listen(Number(PORT), 'localhost')
