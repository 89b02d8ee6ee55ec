// Serves the page, the library and the settings. The page signs people in by itself: it has no secret.
import { fileURLToPath } from 'node:url'
import express from 'express'

const { ISSUER = 'http://localhost:8080', CLIENT_ID = '', API = '', PORT = '3002' } = process.env

const app = express()
app.get('/settings.json', (_, response) => response.json({ issuer: ISSUER, clientId: CLIENT_ID, api: API }))
app.get('/oidc-client-ts.js', (_, response) =>
  response.sendFile(
    fileURLToPath(import.meta.resolve('oidc-client-ts')).replace(/dist.*/, 'dist/browser/oidc-client-ts.min.js'),
  ),
)
app.use(express.static(import.meta.dirname))
app.listen(Number(PORT), 'localhost', () => console.log(`The page is at http://localhost:${PORT}`))
