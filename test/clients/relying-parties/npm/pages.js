// Serves the pages in the browser, bundled: the name of the page is the argument.
import express from 'express'
import { rolldown } from 'rolldown'
import { CLIENT_ID, ISSUER, listen } from './environment.js'

const [page] = process.argv.slice(2)
const define = {
  ISSUER: JSON.stringify(ISSUER),
  CLIENT_ID: JSON.stringify(CLIENT_ID),
  'process.env.NODE_ENV': '"production"',
}
const bundle = await rolldown({ input: `pages/${page}.js`, transform: { define } })
const { output } = await bundle.generate({ format: 'es' })

const app = express()
app.get('/page.js', (request, response) => response.type('text/javascript').send(output[0].code))
app.get(['/', '/popup'], (request, response) =>
  response.send(
    '<!doctype html><title>Page</title><div id="root"></div><script type="module" src="/page.js"></script>',
  ),
)
listen(app)
