// Serves the files of this folder, as any web server or bundler would, and tells them where Roster is.
import { fileURLToPath } from 'node:url'
import express from 'express'

const { ISSUER = 'http://localhost:8080', CLIENT_ID = '', PORT = '3002' } = process.env
const settings = { issuer: ISSUER, clientId: CLIENT_ID }

const app = express()
app.get('/settings.js', (_, response) =>
  response.type('js').send(`export const settings = ${JSON.stringify(settings)}`),
)
for (const library of ['oidc-client-ts', 'jwt-decode'])
  app.get(`/lib/${library}.js`, (_, response) => response.sendFile(fileURLToPath(import.meta.resolve(library))))
app.use(express.static(import.meta.dirname))
app.listen(Number(PORT), 'localhost', () => console.log(`The shop is at http://localhost:${PORT}`))
